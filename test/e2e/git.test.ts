import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commitAll, git } from "../support/git.ts";
import { driftOf, planOf, reportOf } from "../support/json-output.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const committed = { ...everyKind, ".gitignore": ".holdfast/\n" };

describe("in a git checkout", () => {
  test("reports name the commit, and a plan made of it is applied as it", async () => {
    const source = await sourceOf(committed, await serve());
    const commit = await commitAll(source.folder, "Declare a platform");
    const planned = await source.runHere(["plan", "-o", "json", "--out", "plan.json"]);
    expect(planOf(planned).revision).toBe(commit);
    const applied = await source.runHere(["apply", "--plan", "plan.json", "-o", "json"]);
    expect(applied.code).toBe(0);
    expect(reportOf(applied)).toMatchObject({ revision: commit, summary: { created: 8 } });
    await source.write("team.yaml", team("ml", "grace@example.com"));
    expect(planOf(await source.runHere(["plan", "-o", "json"])).revision).toBeNull();
  });

  test("a folder below the checkout's top still means the whole of it", async () => {
    const source = await sourceOf(committed, await serve());
    await commitAll(source.folder, "Declare a platform");
    const ended = await source.runHere(["plan", "-o", "json", "--show", "unchanged"]);
    expect(planOf(ended).steps).toHaveLength(8);
    await source.write("services/.keep", "");
    const below = await source.runIn("services", ["plan", "-o", "json"]);
    expect(planOf(below).steps.map(({ identity, file }) => [identity, file])).toContainEqual([
      "service/dev:web/api",
      "api.yaml",
    ]);
    expect(planOf(below).steps).toHaveLength(8);
  });

  test("plan --base tells the pull request's own changes from what waits and from drift", async () => {
    const server = await serve();
    const source = await sourceOf(committed, server);
    const base = await commitAll(source.folder, "Declare a platform");
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
    });
    await git(source.folder, "checkout", "--quiet", "-b", "change");
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await commitAll(source.folder, "Scale the service");

    const ended = await source.runHere(["plan", "--base", base, "--state", "runner", "-o", "json"]);
    const causes = planOf(ended).steps.map(({ identity, changes }) => [identity, changes.map(({ cause }) => cause)]);
    expect(planOf(ended).steps.map(({ causedBy }) => causedBy)).toEqual(["drift", "change"]);
    expect(planOf(ended).summary).toMatchObject({ update: 2, drift: 1, unrecorded: 0 });
    expect(causes).toEqual([
      ["team/ml", ["drift", "drift"]],
      ["service/dev:web/api", ["manifest"]],
    ]);
    const drift = await source.runHere(["drift", "--base", "main", "--state", "runner", "-o", "json"]);
    expect(drift.code).toBe(2);
    expect(driftOf(drift).drift.map(({ identity, state }) => [identity, state])).toEqual([["team/ml", "drifted"]]);
  });

  test("a gate opens for the steps of this change alone, or for all", async () => {
    const server = await serve();
    const source = await sourceOf(committed, server);
    const base = await commitAll(source.folder, "Declare a platform");
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
    });
    const codeOf = async (...args: readonly string[]) => (await source.runHere(["plan", ...args])).code;
    expect(await codeOf("--base", base)).toBe(0);
    expect(await codeOf("--base", base, "--detailed-exitcode")).toBe(0);
    expect(await codeOf("--base", base, "--gate", "all")).toBe(2);
    expect(await codeOf("--gate", "change")).toBe(0);
    expect(await codeOf("--detailed-exitcode")).toBe(2);
    const stateless = await source.runHere(["plan", "--gate", "change", "--state", "empty"]);
    expect(stateless).toMatchObject({ code: 3, stdout: "" });
    expect(stateless.stderr).toMatch(/^error: --gate change cannot identify this change.*\n {2}→ .*--base REF/);

    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    expect(await codeOf("--base", base)).toBe(0);
    expect(await codeOf("--base", base, "--detailed-exitcode", "--out", "plan.json")).toBe(2);
    // The plan that lies in the source is no change of it, and no file of it.
    const { files } = JSON.parse((await source.runHere(["validate", "-o", "json"])).stdout).summary;
    expect(files).toBe(Object.keys(committed).length - 1);
    const changed = await source.runHere(["plan", "--gate", "change"]);
    expect(changed.code).toBe(2);
    // A plan of what is not committed says how far it is from the commit.
    expect(changed.stdout.replaceAll("\n", " ")).toContain(
      `, commit ${base.slice(0, 12)} of main, 1 file changed since: live → git`,
    );
  });

  test("what the change removes is an orphan of this change, without a record too, and never counts", async () => {
    const source = await sourceOf(committed, await serve());
    const base = await commitAll(source.folder, "Declare a platform");
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await git(source.folder, "rm", "--quiet", "services/api.yaml");
    await commitAll(source.folder, "Remove the service");
    const ended = await source.runHere(["plan", "--base", base, "--state", "runner", "--gate", "all", "-o", "json"]);
    expect(ended.code).toBe(0);
    expect(planOf(ended).steps).toMatchObject([
      { action: "orphan", identity: "service/dev:web/api", causedBy: "change" },
    ]);
    const shown = await source.runHere(["plan", "--base", base, "--state", "runner"]);
    expect(shown.stdout).toMatch(/○ service\/dev:web\/api\n {4}removed by this change\n/);
    expect(shown.stdout).not.toContain("recorded");
  });

  test("plans, reports and other untracked files without manifests are no part of the commit", async () => {
    const source = await sourceOf(committed, await serve());
    const commit = await commitAll(source.folder, "Declare a platform");
    const toFile = ["sh", "-c", 'exec "$@" > report.json 2> log.json', "sh"];
    expect(await source.runThrough(toFile, ["plan", "-o", "json", "--strict"])).toMatchObject({ code: 0 });
    const written = readFileSync(join(source.folder, "report.json"), "utf8");
    expect(JSON.parse(written)).toMatchObject({ revision: commit, diagnostics: [] });
    await source.write("compose.yaml", "services:\n  web:\n    image: nginx\n");
    expect(planOf(await source.runHere(["plan", "-o", "json", "--out", "plan.json"])).revision).toBe(commit);
    expect(reportOf(await source.runHere(["apply", "--plan", "report.json", "-o", "json"]))).toMatchObject({
      revision: commit,
      summary: { created: 8 },
    });
    await source.write("new-team.yaml", team("untracked"));
    expect(planOf(await source.runHere(["plan", "-o", "json"])).revision).toBeNull();
  });

  test("an unknown base is named, and exits 3", async () => {
    const source = await sourceOf(committed, await serve());
    await commitAll(source.folder, "Declare a platform");
    for (const base of ["nowhere", "--upload-pack=touch pwned"]) {
      const ended = await source.runHere(["plan", `--base=${base}`]);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toMatch(/^error: .*\n {2}→ /);
    }
  });
});
