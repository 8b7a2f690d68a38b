import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Simulation } from "../../src/core/report/simulation.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { everyKind, prompt, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const canaries = `env:\n  LEVEL: CANARY-level\n  GREETING: CANARY-greeting\nlabels:\n  owner: CANARY-label\n`;
const files = {
  ...everyKind,
  "other.yaml": service("other", `replicas: 1\n${canaries}`),
  "secretive.yaml": team("secretive", "canary.person@corp.example"),
  "asker.yaml": prompt("asker", "CANARY-prompt"),
  "chart.yaml": `type: helm
name: chart
workspace_fqn: dev:web
source: { type: oci-repo, oci_chart_url: "oci://registry.example.com/charts/chart", version: 1.0.0 }
values: { password: CANARY-free, nested: [{ CANARY-key: CANARY-deep }] }
`,
};
// Live and not of this repository.
const elsewhere = { "elsewhere.yaml": team("elsewhere", "canary.other@corp.example") };

test("S78 a snapshot holds no values and addresses, and a fork's change is tried on it without a token", async () => {
  const server = await serve(["--seed", (await sourceOf({ ...files, ...elsewhere })).folder]);
  const secrets = [{ key: "password", value: "CANARY-secret" }];
  await server.call("POST", "/api/svc/v1/secret-groups", { name: "vault", integrationId: "builtin", secrets });
  const operator = await sourceOf(files, server);
  const taken = await operator.run(["snapshot", "--out", "snapshot.json"]);
  expect(taken).toMatchObject({ code: 0 });
  const path = join(operator.folder, "snapshot.json");
  const text = readFileSync(path, "utf8");
  expect(text).not.toMatch(/canary|corp\.example|ada@|Be kind/i);
  expect(text).not.toContain(server.token);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  for (const name of ["dev:web", "other", "elsewhere", "chart", "asker", "replicas", "image_uri"])
    expect(text).toContain(name);
  expect(await operator.runHere(["snapshot", "--out", "public.json", "--public"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(operator.folder, "public.json"), "utf8")).not.toMatch(/elsewhere|canary/i);

  const fork = await sourceOf(files);
  await commitAll(fork.folder, "Declare a platform");
  await git(fork.folder, "checkout", "-q", "-b", "change");
  await fork.write("other.yaml", service("other", `replicas: 3\n${canaries}`));
  await fork.write("new.yaml", team("new"));
  await fork.write("secretive.yaml", team("secretive", "another.person@corp.example"));
  await fork.write("elsewhere.yaml", team("elsewhere", "another.person@corp.example"));
  await fork.write("broken.yaml", service("broken", "env:\n  KEY: secret://absent:group:key\n"));
  await commitAll(fork.folder, "Change");
  const TMPDIR = await temporaryFolder();
  const arguments_ = ["simulate", "--snapshot", path, "--base", "main", "-o", "json", "-o", "markdown=simulation.md"];
  const ended = await fork.run(arguments_, { TMPDIR, HOLDFAST_SERVER: "http://127.0.0.1:9" });
  expect([ended.code, ended.stderr]).toEqual([1, expect.not.stringContaining("error:")]);
  expect(faultsOf("simulation", ended.stdout)).toEqual([]);
  const simulation: Simulation = JSON.parse(ended.stdout);
  expect(simulation.base).toMatchObject({ refused: [] });
  expect(simulation.change).toMatchObject({
    created: ["team/new"],
    updated: ["team/elsewhere", "team/secretive", "service/dev:web/other"],
    rollouts: ["service/dev:web/other"],
    refused: [{ identity: "service/dev:web/broken" }],
  });
  expect(simulation.revert.updated).toEqual(["team/secretive", "service/dev:web/other"]);
  expect(simulation.stays).toEqual([
    { identity: "team/new", what: "resource" },
    { identity: "team/elsewhere", what: "update" },
    { identity: "service/dev:web/other", what: "versions" },
  ]);
  const markdown = readFileSync(join(fork.folder, "simulation.md"), "utf8");
  expect(markdown).toContain("### Holdfast simulation: 1 to create, 3 to update, 1 refused");
  expect(markdown).toContain("`team/new`: was created, and nothing deletes it");
  expect(markdown).toContain("`team/elsewhere`: stays as the change wrote it: the revert does not write it back");
  // The pod of a copy starts from the same file.
  const copy = await serve(["--snapshot", path]);
  expect(await (await sourceOf(elsewhere, copy)).runHere(["plan", "-o", "json"])).toMatchObject({ code: 0 });
});

test("S78 what is no snapshot is refused before anything is started", async () => {
  const source = await sourceOf({ "a.json": "{}", "b.json": '{"holdfast_snapshot":"1.0","snapshot":{"teams":["a"]}}' });
  for (const file of ["a.json", "b.json", "none.json"]) {
    const ended = await source.runHere(["simulate", "--snapshot", file, "--base", "main"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toContain(`${file} cannot be used as a snapshot`);
  }
  expect((await source.runHere(["simulate", "--base", "main"])).stderr).toContain("--snapshot FILE is missing");
  expect((await source.runHere(["simulate"])).stderr).toContain("--snapshot FILE and --base REF are missing");
  expect((await source.runHere(["snapshot"])).stderr).toContain("--server URL and --out FILE are missing");
});
