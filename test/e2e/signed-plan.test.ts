import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { planDigest } from "../../src/core/plan/sign-plan.ts";
import { commitAll } from "../support/git.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { runHere } from "../support/run-here.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const sign = ["plan", "--allow-privilege", "--out", "plan.json"];
const apply = ["apply", "--plan", "plan.json"];
const scaled = (replicas: number) => service("api", `replicas: ${replicas}\n`);
const secret = (value: string) => service("api", `replicas: 2\nenv:\n  API_PASSWORD: ${value}\n`);

async function seeded(): Promise<Server> {
  return serve(["--seed", (await sourceOf(everyKind)).folder]);
}

async function signed(source: Source, file: string, text: string): Promise<void> {
  await source.write(file, text);
  expect(await source.runHere(sign)).toMatchObject({ code: 0 });
}

function edit(source: Source, change: (plan: Record<string, unknown>) => object): void {
  const path = join(source.folder, "plan.json");
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));
}

/** What somebody without the key can do for an edited plan to be taken for another one. */
function withDigestAnew(plan: Record<string, unknown>): object {
  return {
    ...plan,
    seal: { ...(plan.seal as object), content: planDigest(JSON.parse(JSON.stringify(plan))) },
  };
}

describe("a signed plan that was applied in part", () => {
  test("is resumed by the same command: what is done is recognised, and the rest goes on", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    await source.write("a.yaml", team("first"));
    await source.write("services/api.yaml", scaled(3));
    await signed(source, "b.yaml", team("second"));
    const before = server.effects().length;
    const part = await source.runHere(["apply", "--yes", "--allow-privilege", "--only", "team/first"]);
    expect(part).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before + 1);
    const ended = await source.runHere([...apply, "-o", "json"]);
    expect(ended).toMatchObject({ code: 0 });
    expect(reportOf(ended).summary).toMatchObject({ created: 1, updated: 1 });
    expect(server.effects()).toHaveLength(before + 3);
    expect(await source.runHere(apply)).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before + 3);
  });

  test("is refused for what else has moved, and says what, by whom and when", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    await source.write("a.yaml", team("first"));
    await signed(source, "services/api.yaml", scaled(3));
    expect(await source.runHere(["apply", "--yes", "--allow-privilege", "--only", "team/first"])).toMatchObject({
      code: 0,
    });
    await server.call("PUT", "/api/svc/v1/apps", {
      manifest: {
        type: "service",
        name: "api",
        workspace_fqn: "dev:web",
        image: { type: "image", image_uri: "registry.example.com/api:1.0.0" },
        ports: [{ port: 8080 }],
        replicas: 7,
      },
    });
    await source.write("a.yaml", team("first", "eve@example.com"));
    const before = server.effects();
    const ended = await source.runHere(apply);
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toMatch(
      /live: service\/dev:web\/api: \/replicas was 2, and is 7 \(changed by \S+ at \d{4}-\d\d-\d\dT[^)]+\)/,
    );
    expect(ended.stderr).toMatch(/a\.yaml:1:1: error: source: team\/first: /);
    expect(ended.stderr).toMatch(/error: the plan is stale: .*(live and the source|the source and live) have changed/);
    expect(server.effects()).toEqual(before);
  });
});

test("a signed plan is applied by another state folder with the same key, whatever only one of the two has recorded", async () => {
  const server = await serve();
  const source = await sourceOf(
    { ...foundations, "services/api.yaml": service("api"), "a.yaml": team("first") },
    server,
  );
  const env = {
    HOLDFAST_SERVER: server.url,
    HOLDFAST_TOKEN: server.token,
    HOLDFAST_STATE_KEY: Buffer.alloc(32, 7).toString("base64"),
    HOLDFAST_ALLOW_ADOPT: "true",
    HOLDFAST_ALLOW_PRIVILEGE: "true",
  };
  const here = (args: readonly string[]) => runHere(args, { cwd: source.folder, env });
  expect(await here(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
  // An orphan in one ledger, a drifted service, and an orphan in the other ledger.
  await source.remove("a.yaml");
  const { data } = await server.call("GET", "/api/svc/v1/apps?fqn=dev:web:api");
  await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...data[0].deployment.manifest, replicas: 9 } });
  expect(await here(sign)).toMatchObject({ code: 0 });
  const plan = JSON.parse(readFileSync(join(source.folder, "plan.json"), "utf8"));
  expect(plan.steps).toMatchObject([
    { action: "update", causedBy: "drift", changedBy: { subject: expect.any(String) } },
    { action: "orphan", identity: "team/first" },
  ]);
  await source.write("b.yaml", team("second"));
  const other = ["--state", "elsewhere"];
  expect(await here(["apply", "--yes", "--only", "team/second", ...other])).toMatchObject({ code: 0 });
  await source.remove("b.yaml");
  const applied = await here([...apply, "--no-wait", "-o", "json", ...other]);
  expect(applied).toMatchObject({ code: 0 });
  expect(reportOf(applied).summary).toMatchObject({ updated: 1 });
});

describe("a signed plan is refused", () => {
  test("for another server, naming both", async () => {
    const [server, other] = [await seeded(), await seeded()];
    const source = await sourceOf(everyKind, server);
    await signed(source, "services/api.yaml", scaled(3));
    const ended = await source.runHere([...apply, "--server", other.url], { HOLDFAST_TOKEN: other.token });
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toContain(`error: the plan is for ${server.url}, and this is ${other.url}`);
  });

  test("for another configuration that changes what is done", async () => {
    const source = await sourceOf(everyKind, await seeded());
    await source.write("a.yaml", team("first"));
    await signed(source, "services/api.yaml", scaled(3));
    await source.write(
      "holdfast.yaml",
      "ignore:\n  - { path: /replicas, match: 'service/dev:web/*', reason: scaled by hand }\n",
    );
    const ended = await source.runHere(apply);
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toContain("error: the configuration, or what was selected, is not what it was");
  });

  test("for a changed secret value, of which the file gives nothing to guess by", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    await signed(source, "services/api.yaml", secret("canary-one"));
    const text = readFileSync(join(source.folder, "plan.json"), "utf8");
    const digests = ["hex", "base64"].map((form) =>
      createHash("sha256")
        .update("canary-one")
        .digest(form as "hex" | "base64"),
    );
    for (const each of ["canary", ...digests]) expect(text).not.toContain(each);
    await source.write("services/api.yaml", secret("canary-two"));
    const before = server.effects();
    const ended = await source.runHere(apply);
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toContain("source: service/dev:web/api: the manifest has changed");
    expect(ended.stderr).not.toContain("canary");
    expect(server.effects()).toEqual(before);
  });

  test("where secrets were signed with another key, unless both are given the same or it is the same commit", async () => {
    const server = await seeded();
    const source = await sourceOf({ ...everyKind, ".gitignore": ".holdfast/\nelsewhere*/\n" }, server);
    await signed(source, "services/api.yaml", secret("canary-one"));
    const elsewhere = [...apply, "--state", "elsewhere"];
    const ended = await source.runHere(elsewhere);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(
      /error: the plan has secret values that were signed with another key\n {2}→ .*HOLDFAST_STATE_KEY/,
    );

    await commitAll(source.folder, "Commit");
    expect(await source.runHere(sign)).toMatchObject({ code: 0 });
    expect(await source.runHere([...elsewhere, "--no-wait"])).toMatchObject({ code: 0 });

    const shared = { HOLDFAST_STATE_KEY: Buffer.alloc(32, 7).toString("base64") };
    await source.write("services/api.yaml", secret("canary-two"));
    expect(await source.runHere([...sign, "--state", "elsewhere-2"], shared)).toMatchObject({ code: 0 });
    expect(await source.runHere([...apply, "--state", "elsewhere-3"], shared)).toMatchObject({ code: 0 });
  });

  test("when its summary, a diagnostic or a step was edited, its digest made anew or not", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    await signed(source, "services/api.yaml", scaled(3));
    const path = join(source.folder, "plan.json");
    const original = readFileSync(path, "utf8");
    const note = { severity: "warning", code: "note", summary: "all is well", detail: null };
    const edits: readonly ((plan: Record<string, unknown>) => object)[] = [
      (plan) => ({ ...plan, summary: { ...(plan.summary as object), update: 0 } }),
      (plan) => ({ ...plan, diagnostics: [note] }),
      (plan) => ({ ...plan, steps: [] }),
    ];
    const before = server.effects();
    for (const change of edits) {
      writeFileSync(path, original);
      edit(source, change);
      const edited = await source.runHere(apply);
      expect(edited).toMatchObject({ code: 6, stdout: "" });
      expect(edited.stderr).toContain("error: the plan was edited after it was made");
      edit(source, withDigestAnew);
      const forged = await source.runHere(apply);
      expect(forged).toMatchObject({ code: 6, stdout: "" });
      expect(forged.stderr).toContain("error: the plan was edited after it was made");
    }
    // Without the key, what is shown is compared piece by piece.
    const said = [
      "error: its summary does not count its steps",
      "error: only the plan's file says: warning: all is well [note]",
      "error: the plan was edited after it was made",
    ];
    for (const [nth, change] of edits.entries()) {
      writeFileSync(path, original);
      edit(source, change);
      edit(source, withDigestAnew);
      const elsewhere = await source.runHere([...apply, "--state", "elsewhere"]);
      expect(elsewhere).toMatchObject({ code: 6, stdout: "" });
      expect(elsewhere.stderr).toContain(said[nth]);
    }
    expect(server.effects()).toEqual(before);
    writeFileSync(path, original);
    expect(await source.runHere([...apply, "--state", "elsewhere"])).toMatchObject({ code: 0 });
  });

  test("S63 when another key has signed it and marks, counts or causes were edited, as far as anybody can tell", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, HOLDFAST_ALLOW_ADOPT: "true" };
    const here = (args: readonly string[]) => runHere(args, { cwd: source.folder, env });
    await source.write("services/api.yaml", scaled(0));
    expect(await here(sign)).toMatchObject({ code: 0 });
    const original = readFileSync(join(source.folder, "plan.json"), "utf8");
    const { steps } = JSON.parse(original);
    expect(steps).toMatchObject([{ causedBy: "unrecorded", risks: ["adopts", "scale-to-zero"] }]);
    const elsewhere = async (change: object, more: object = {}) => {
      writeFileSync(join(source.folder, "plan.json"), original);
      edit(source, (plan) => ({ ...plan, ...more, steps: [{ ...steps[0], ...change }] }));
      edit(source, withDigestAnew);
      return here([...apply, "--state", "elsewhere"]);
    };
    const before = server.effects();
    const counted = JSON.parse(original).summary;
    const causes = (cause: string) => steps[0].changes.map((change: object) => ({ ...change, cause }));
    const forged: readonly (readonly [object, object, string])[] = [
      [{ risks: ["adopts"] }, {}, "the plan's file does not mark service/dev:web/api with scale-to-zero"],
      [{ risks: [...steps[0].risks, "exposure"] }, {}, "only the plan's file marks service/dev:web/api with exposure"],
      [{ causedBy: "change" }, {}, "the plan's file names another cause of service/dev:web/api than of its changes"],
      [{ changes: causes("drift"), causedBy: "drift" }, {}, "its summary does not count its steps"],
      [{}, { summary: { ...counted, unrecorded: 0 } }, "its summary does not count its steps"],
      [{ identity: "service/dev:web/other" }, {}, "the plan was edited after it was made"],
    ];
    for (const [change, more, said] of forged) {
      const refused = await elsewhere(change, more);
      expect(refused).toMatchObject({ code: 6, stdout: "" });
      expect(refused.stderr).toContain(`error: ${said}`);
    }
    expect(server.effects()).toEqual(before);
    // Whoever made the plan may have had a record that this state folder has not: that it says so is told, not believed.
    const unrecorded = { ...counted, unrecorded: 0 };
    const reverts = ["reverts", "scale-to-zero"];
    const consistent = await elsewhere(
      { changes: causes("drift"), causedBy: "drift", risks: reverts },
      { summary: unrecorded },
    );
    expect(consistent).toMatchObject({ code: 0 });
    expect(consistent.stderr).toContain("warning: another key has signed the plan: ");
    expect(consistent.stderr).toContain("[unverified-plan]");
    expect(server.effects()).toHaveLength(before.length + 1);
  });

  test("for what had no step, and tells source from live by the documents, or says that it cannot", async () => {
    const server = await seeded();
    const source = await sourceOf(everyKind, server);
    const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, HOLDFAST_ALLOW_ADOPT: "true" };
    const here = (args: readonly string[]) => runHere(args, { cwd: source.folder, env });
    const refused = async (args: readonly string[] = []) => {
      const ended = await here([...apply, ...args]);
      expect(ended).toMatchObject({ code: 6, stdout: "" });
      return ended.stderr;
    };
    await source.write("b.yaml", team("second"));
    expect(await here(sign)).toMatchObject({ code: 0 });
    const original = readFileSync(join(source.folder, "services/api.yaml"), "utf8");
    await source.write("services/api.yaml", scaled(4));
    expect(await refused()).toContain("error: source: service/dev:web/api: the plan does not have it");
    expect(await refused(["--state", "elsewhere"])).toContain("error: source-or-live: service/dev:web/api: ");
    await source.write("services/api.yaml", original);
    const { data } = await server.call("GET", "/api/svc/v1/apps?fqn=dev:web:api");
    const { manifest } = data[0].deployment;
    await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...manifest, replicas: 9 } });
    expect(await refused()).toContain("error: live: service/dev:web/api: /replicas is 9");
  });

  test("when it is none: cut off, of another version, too deep, too large, a folder", async () => {
    const source = await sourceOf(everyKind, await seeded());
    await signed(source, "services/api.yaml", scaled(3));
    const path = join(source.folder, "plan.json");
    const original = readFileSync(path, "utf8");
    const read = JSON.parse(original).format_version;
    const refused = async (file = "plan.json"): Promise<string> => {
      const ended = await source.runHere(["apply", "--plan", file]);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      return ended.stderr;
    };
    writeFileSync(path, original.slice(0, -20));
    expect(await refused()).toContain("plan.json is no plan of this version: it is no JSON, or it was cut off");
    for (const format of ["2.0", "99.0"]) {
      writeFileSync(path, original.replace(/"format_version": "[\d.]+"/, `"format_version": "${format}"`));
      expect(await refused()).toContain(`of this version: its format is "${format}", and this release reads ${read}`);
    }
    writeFileSync(path, "[".repeat(100_000));
    expect(await refused()).toContain("its JSON is nested too deeply");
    writeFileSync(path, "");
    truncateSync(path, 300 * 1024 * 1024);
    expect(await refused()).toContain("it is larger than 256 MiB");
    mkdirSync(join(source.folder, "folder"));
    expect(await refused("folder")).toContain("it cannot be read (EISDIR)");
    execFileSync("mkfifo", [join(source.folder, "pipe")]);
    expect(await refused("pipe")).toContain("it is a pipe, not a regular file");
  });
});
