import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { account, everyKind, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { makeSecretGroup } from "../support/secret-group.ts";
import { expectInNoFile, expectNowhere } from "../support/secret-search.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

describe.each(controlPlaneVariants)("the one-time token of an account, on a $name control plane", (plane) => {
  test("goes to a file of its own, is good for calls, and is seen nowhere else", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    const runs = [await source.runHere(["apply", "--yes", "--log-level", "trace"])];
    const path = join(
      source.folder,
      ".holdfast/tokens",
      new URL(server.url).host.replace(":", "_"),
      "virtual-account/ci",
    );
    expect(runs[0]?.stderr).toContain(`token of virtual-account/ci: ${path}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(source.folder, ".holdfast"))).mode & 0o777).toBe(0o700);
    const token = (await readFile(path, "utf8")).trim();
    const answer = await fetch(`${server.url}/api/svc/v1/workspaces`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);

    for (const args of [["apply", "--yes"], ["plan", "-o", "json", "--show", "unchanged"], ["drift"]]) {
      runs.push(await source.runHere([...args, "--log-level", "trace"]));
    }
    expectNowhere(token, runs);
    await expectInNoFile(token, source.folder, [path]);
    await expectInNoFile(token, server.data, []);
    expect(await readFile(path, "utf8")).toBe(`${token}\n`);
  });

  test("is not asked for where nobody has said where it may go", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    const planned = await source.runHere(["plan", "--out", "plan.json"], { CI: "1" });
    expect(planned).toMatchObject({
      code: 5,
      stdout: expect.stringMatching(/^Next: holdfast plan --sink file --out plan.json$/m),
      stderr: expect.stringMatching(
        /virtual-account\/ci answers a one-time token[^→]*→ nothing was signed: run plan again with --sink file/,
      ),
    });
    expect(JSON.parse((await source.runHere(["plan", "-o", "json"], { CI: "1" })).stdout)).not.toHaveProperty("seal");
    const ended = await source.runHere(["apply", "--yes", "-o", "json"], { CI: "1" });
    expect(ended.code).toBe(7);
    const [blocked, ...others] = reportOf(ended).outcomes.filter(({ result }) => result === "blocked");
    expect(others).toEqual([]);
    expect(blocked).toMatchObject({
      identity: "virtual-account/ci",
      error: { code: "token-sink", message: expect.stringContaining("--sink file") },
    });
    expect(server.effects().map(({ operation }) => operation)).not.toContain("18");

    const told = await source.runHere(["apply", "--yes", "--sink", "file"], { CI: "1" });
    expect(told).toMatchObject({ code: 0 });
    expect(told.stderr).toContain("token of virtual-account/ci: ");
  });

  test("F83 is not asked for by watch where nobody has said where it may go, and everything else is made", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch"]);
    await watch.shows("stdout", /blocked {3}virtual-account\/ci\n[^→]*--sink file[^→]*\[token-sink\]/);
    await watch.shows("stdout", /^Incomplete: [47] created, 1 blocked/m);
    expect(server.effects().map(({ operation }) => operation)).not.toContain("18");
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });

    const told = source.start(["watch"], { HOLDFAST_SINK: "file" });
    await told.shows("stdout", /^Applied: 1 created, 7 unchanged/m);
    expect(told.stderr()).toContain("token of virtual-account/ci: ");
  });

  test("is never put over one that is there", async () => {
    const server = await plane.serve();
    const folder = `.holdfast/tokens/${new URL(server.url).host.replace(":", "_")}/virtual-account`;
    const source = await sourceOf({ ...everyKind, [`${folder}/ci`]: "an older one\n" }, server);
    const ended = await source.runHere(["apply", "--yes"]);
    expect(ended.code).toBe(0);
    expect(await readFile(join(source.folder, folder, "ci"), "utf8")).toBe("an older one\n");
    expect(ended.stderr).toContain(`token of virtual-account/ci: ${join(source.folder, folder, "ci.2")}\n`);
  });
});

describe("tokens", () => {
  test("with a secret store stay on the control plane, so CI needs no sink", async () => {
    const server = await serve();
    await makeSecretGroup(server);
    const source = await sourceOf(
      {
        ...everyKind,
        "account.yaml": `${account("ci")}secret_store_config: { integration_fqn: builtin, secret_path: platform/ci-token }\n`,
      },
      server,
    );
    expect(await source.runHere(["apply", "--yes"], { CI: "1" })).toMatchObject({ code: 0 });
  });

  test("of the operator are in no output and in no file of the state folder", async () => {
    const canary = `canary-${randomUUID()}`;
    const refused = await serve();
    const source = await sourceOf(everyKind, refused);
    const runs: Ended[] = [];
    for (const command of ["plan", "drift"]) {
      runs.push(await source.runHere([command, "--log-level", "trace"], { HOLDFAST_TOKEN: canary }));
    }
    runs.push(await source.runHere(["apply", "--yes", "--log-level", "trace"], { HOLDFAST_TOKEN: canary }));
    expect(runs.map(({ code }) => code)).toEqual([4, 4, 4]);
    expectNowhere(canary, runs);
    await expectInNoFile(canary, source.folder, []);
  });

  test("and secrets written into manifests are in no output and not in the ledger", async () => {
    const canary = `canary-${randomUUID()}`;
    const server = await serve();
    const manifest = service("api", `env:\n  DB_PASSWORD: ${canary}\n`);
    const source = await sourceOf({ ...everyKind, "services/api.yaml": manifest }, server);
    const runs: Ended[] = [];
    for (const args of [["validate"], ["plan"], ["apply", "--yes"], ["drift"]]) {
      runs.push(await source.runHere([...args, "--log-level", "trace"]));
    }
    // Both refused by the schema and by the control plane, the value stays unsaid.
    await source.write("services/api.yaml", `${manifest}replicas: ${canary}\n`);
    runs.push(await source.runHere(["validate"]));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 3]);
    expectNowhere(canary, runs);
    await expectInNoFile(canary, join(source.folder, ".holdfast"), []);
  });
});

test("an account that is disabled is blocked in every plan, and whoever may not disable it is told why", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes", "--sink", "file"])).toMatchObject({ code: 0 });
  expect(await source.runHere(["disable", "virtualaccount:ci"])).toMatchObject({ code: 3, stdout: "" });
  const disabled = await source.runHere(["disable", "virtualaccount:ci", "--yes"]);
  const stdout = "virtualaccount:ci is disabled: its tokens are void, and it gets no new ones\n";
  expect(disabled).toMatchObject({ code: 0, stdout });
  // The second one has what the first has read.
  for (const args of [
    ["plan", "-o", "json"],
    ["plan", "-o", "json"],
  ]) {
    const { steps } = planOf(await source.runHere(args));
    expect(steps).toEqual([
      expect.objectContaining({ identity: "virtual-account/ci", action: "block", reason: "disabled" }),
    ]);
  }
  const text = await source.runHere(["plan"]);
  expect(text.stdout).toMatch(/virtual-account\/ci.*\n.*disabled for good/);
  const unknown = await source.runHere(["disable", "user:nobody", "--yes"]);
  expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("user:nobody was not found") });
  const without = await serve(["--documented-only"]);
  const refused = await (await sourceOf({}, without)).runHere(["disable", "user:nobody", "--yes"]);
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("the extension E16") });
});
