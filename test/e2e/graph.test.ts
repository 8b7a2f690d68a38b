import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { exampleSource, sourceOf } from "../support/source.ts";

const owned = {
  ...foundations,
  "ml.yaml": team("ml"),
  "web.yaml":
    'type: workspace\nname: owned\ncluster_fqn: dev\ncollaborators: [{ subject: "team:ml", role_id: workspace-editor }]\n',
  "api.yaml": service("inner").replace("dev:web", "dev:owned"),
};

test("graph shows every resource with its references, without a server", async () => {
  const source = await sourceOf(everyKind);
  const ended = await source.run(["graph"]);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toContain("\nworkspace/dev:web\n  → cluster/dev\n");
  expect(ended.stdout).toMatch(/\nGraph: 8 resources, \d+ references\n$/);
  expect((await source.runHere(["graph", "-o", "mermaid"])).stdout).toMatch(/^flowchart LR\n {2}n0\["/);
  expect((await source.runHere(["graph", "-o", "dot"])).stdout).toMatch(/^digraph manifests \{\n.*\n\}\n$/s);
});

type Node = { readonly identity: string; readonly declared: boolean };

test("graph -o json has each resource after what it refers to", async () => {
  const source = await exampleSource();
  const { code, stdout } = await source.runHere(["graph", "-o", "json"]);
  expect([code, faultsOf("graph", stdout)]).toEqual([0, []]);
  const { nodes, edges } = JSON.parse(stdout);
  const places = new Map(nodes.map(({ identity }: { identity: string }, nth: number) => [identity, nth]));
  expect(edges.length).toBeGreaterThan(30);
  // What is not declared here, such as a group of secrets that was made by hand, is behind all others.
  const isDeclared = new Set(nodes.filter(({ declared }: Node) => declared).map(({ identity }: Node) => identity));
  for (const { from, to } of edges.filter((edge: { to: string }) => isDeclared.has(edge.to)))
    expect(Number(places.get(to)), `${from} → ${to}`).toBeLessThan(Number(places.get(from)));
});

test("a selection is shown with what it refers to and what depends on it", async () => {
  const source = await sourceOf(owned);
  const identities = async (...args: readonly string[]) => {
    const { stdout } = await source.runHere(["graph", ...args, "-o", "json"]);
    return JSON.parse(stdout).nodes.map(({ identity }: { identity: string }) => identity);
  };
  expect(await identities("--only", "team/ml")).toEqual(["team/ml", "workspace/dev:owned", "service/dev:owned/inner"]);
  const around = ["cluster/dev", "team/ml", "workspace/dev:owned", "service/dev:owned/inner"];
  expect(await identities("web.yaml")).toEqual(around);
  expect(await source.runHere(["graph", "--only", "team/mll"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("team/ml"),
  });
});

test("a reference to what is not declared here is shown as such", async () => {
  const source = await sourceOf({ "api.yaml": service("api") });
  const { stdout } = await source.runHere(["graph", "-o", "json"]);
  expect(JSON.parse(stdout).nodes).toMatchObject([
    { identity: "service/dev:web/api", declared: true, file: "api.yaml", line: 1, wave: 0 },
    { identity: "workspace/dev:web", declared: false, file: null },
  ]);
});

test("graph shows the valid manifests beside errors, and ends with 3", async () => {
  const source = await sourceOf({
    ...everyKind,
    "a.yaml": team("two"),
    "b.yaml": team("two"),
    "c.yaml": "type: team\n",
  });
  const ended = await source.runHere(["graph"]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("[duplicate-identity]") });
  expect(ended.stdout).toContain("Graph: 8 resources");
  expect(ended.stdout).not.toContain("team/two");
  expect(await source.runHere(["graph", "-o", "svg"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("mermaid"),
  });
});

test("an empty source has an empty graph, a file takes one, and a pipe may be closed early", async () => {
  const source = await sourceOf({});
  expect((await source.runHere(["graph"])).stdout).toBe("Graph: 0 resources, 0 references\n");
  await source.write("ml.yaml", team("ml"));
  expect(await source.runHere(["graph", "-o", "mermaid=graph.mmd"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(source.folder, "graph.mmd"), "utf8")).toContain('["team/ml"]');
  const program = `"${process.execPath}" "${resolve("bin/holdfast.js")}" graph -o dot`;
  const { status, stdout } = spawnSync("bash", ["-o", "pipefail", "-c", `${program} | head -1`], {
    cwd: source.folder,
  });
  expect([status, String(stdout)]).toEqual([0, "digraph manifests {\n"]);
});
