import { expect, test } from "vitest";
import { reportOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const own = service("own");
const bare = service("bare").replace("workspace_fqn: dev:web\n", "");
const workflow =
  "type: workflow\nname: training\nsource: { type: remote, remote_uri: s3://b/t.tar.gz }\nworkflow_file_path: t/w.py\n";
const intercept =
  "type: intercept\nname: debug\nrules: [{ port: 80, action: { type: forward, service_uri: http://x, port: 80 } }]\n";
const batch = "type: workspace\nname: batch\ncluster_fqn: dev\n";
const files = { ...foundations, "batch.yaml": batch, "apps.yaml": [own, bare, workflow, intercept].join("---\n") };

test("an application without a workspace is an error that names the ways to give one", async () => {
  const source = await sourceOf(files);
  const { code, stdout } = await source.runHere(["validate", "-o", "json"]);
  expect(code).toBe(3);
  const { diagnostics } = JSON.parse(stdout);
  expect(diagnostics).toHaveLength(3);
  for (const diagnostic of diagnostics) {
    expect(diagnostic).toMatchObject({ code: "missing-field", file: "apps.yaml" });
    expect(diagnostic.detail).toContain("--workspace, or `defaults.workspace_fqn` in holdfast.yaml");
  }
});

test("defaults.workspace_fqn gives applications a workspace where they name none, and only there", async () => {
  const server = await serve();
  const config = { "holdfast.yaml": "defaults: { workspace_fqn: dev:batch }\n" };
  const source = await sourceOf({ ...files, ...config }, server);
  const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(ended.code).toBe(0);
  const identities = reportOf(ended).outcomes.map(({ identity }) => identity);
  expect(identities).toEqual(
    expect.arrayContaining([
      "service/dev:web/own",
      "service/dev:batch/bare",
      "workflow/dev:batch/training",
      "intercept/dev:batch/debug",
    ]),
  );
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
  });
});

test("--workspace goes before the configuration, and HOLDFAST_WORKSPACE stands for it, whatever was read before", async () => {
  const config = { "holdfast.yaml": "defaults: { workspace_fqn: dev:batch }\n" };
  const source = await sourceOf({ ...files, ...config });
  const planned = async (args: readonly string[], env: { readonly [name: string]: string } = {}) => {
    const { stdout, code } = await source.runHere(["plan", "--embedded", "-o", "json", ...args], env);
    expect(code).toBe(0);
    return JSON.parse(stdout).steps.map(({ identity }: { identity: string }) => identity);
  };
  expect(await planned([])).toContain("service/dev:batch/bare");
  expect(await planned(["--workspace", "dev:web"])).toContain("service/dev:web/bare");
  expect(await planned([], { HOLDFAST_WORKSPACE: "dev:web" })).toContain("service/dev:web/bare");
  expect(await planned([])).toContain("service/dev:batch/bare");
  const wrong = await source.runHere(["validate", "--workspace", "nowhere"]);
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining("cluster:workspace") });
});
