import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";

async function folderOf(files: { readonly [name: string]: string }): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

const platform = {
  // In an order in which nothing could be written as it comes.
  "a/service.yaml": `
type: service
name: api
workspace_fqn: c1x:ws1
image: { type: image, image_uri: x }
`,
  "b.yml": `
type: workspace
name: ws1
cluster_fqn: c1x
collaborators:
  - { subject: "team:ops", role_id: workspace-admin }
---
type: cluster
name: c1x
cluster_type: aws-eks
---
# nothing here
---
just: notes
`,
  "c.json": `{ "type": "virtual-account", "name": "ci", "permissions": [{ "resource_type": "workspace", "resource_fqn": "c1x:ws1", "role_id": "workspace-viewer" }] }`,
  "d.yaml": `{ type: team, name: ops, members: [a@example.com] }`,
  "e.yaml": `
type: chat_prompt
name: greet
ml_repo: r1
messages: [{ role: system, content: hello }]
---
type: chat_prompt
name: greet
version: 2
ml_repo: r1
messages: [{ role: system, content: hello again }]
---
type: ml-repo
name: r1
`,
};

test("a seed folder becomes live in an order that follows from its references, once", async () => {
  const seed = await folderOf(platform);
  const first = await startControlPlane({ seed });
  const made = await effects(first.data);
  expect(made.every((effect) => effect.startsWith("seed "))).toBe(true);
  expect(made.filter((effect) => effect.includes("service/c1x:ws1/api"))).toHaveLength(1);
  expect((await first.admin.get("/api/svc/v1/workspaces")).body.data[0].createdBySubject.subjectSlug).toBe("seed");
  expect((await first.admin.get("/api/ml/v1/prompt-versions")).body.pagination.total).toBe(2);
  await first.close();
  const second = await startControlPlane({ seed, data: first.data, documentedOnly: true });
  expect(await effects(second.data)).toEqual(made);
});

test("what exists is left as it is, whatever the folder says", async () => {
  const first = await startControlPlane({ seed: await folderOf(platform) });
  await first.close();
  const edited = platform["b.yml"].replace("cluster_type: aws-eks", "cluster_type: generic");
  const second = await startControlPlane({ data: first.data, seed: await folderOf({ "b.yml": edited }) });
  expect((await second.admin.get("/api/svc/v1/clusters/c1x")).body.data.manifest.cluster_type).toBe("aws-eks");
});

test("a seeded account's token lies in the folder, for its owner alone, and works", async () => {
  const { data, url } = await startControlPlane({ seed: await folderOf(platform) });
  const path = join(data, "tokens", "ci");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const account = caller(url, new Secret((await readFile(path, "utf8")).trim()));
  expect((await account.get("/api/svc/v1/workspaces")).body.pagination.total).toBe(1);
});

test.each([
  ["broken YAML", { "x.yaml": "type: cluster\nname: [CANARY-5" }, "x.yaml:2:7: not valid YAML"],
  ["a key that is there twice", { "x.yaml": "type: cluster\nname: c1x\nname: c2x\n" }, "x.yaml:3:1: the key `name`"],
  ["JSON with a comment", { "x.json": '{"type": "cluster"} // c1x' }, "x.json:1:21: not valid JSON"],
  ["an invalid manifest", { "x.yaml": "type: cluster\nname: c1x\n---\ntype: cluster\nname: X\n" }, "x.yaml (document "],
  ["a reference to nothing", { "x.yaml": "type: workspace\nname: ws1\ncluster_fqn: absent\n" }, "x.yaml: /cluster_fqn"],
])("%s is refused, with its file named, and nothing listens", async (_, files, message) => {
  const seed = await folderOf(files);
  const data = await temporaryFolder();
  await expect(startControlPlane({ data, seed })).rejects.toThrow(message);
  await startControlPlane({ data });
});

test("a seed folder that is absent is an error", async () => {
  await expect(startControlPlane({ seed: join(await temporaryFolder(), "absent") })).rejects.toThrow();
});

test("the examples become live from nothing, their secrets from the manifest of a group", async () => {
  const { admin, data, close } = await startControlPlane({ seed: "examples" });
  const [group] = (await admin.get("/api/svc/v1/secret-groups?fqn=holdfast:platform")).body.data;
  const [{ id, name }] = group.associatedSecrets;
  expect((await admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value).toBe(`example-only-${name}`);
  const changed = { type: "secret-group", name: "platform", secrets: [{ key: name, value: "mine" }] };
  await admin.put("/api/svc/v1/secret-groups", { manifest: changed });
  expect((await admin.get("/api/svc/v1/apps")).body.pagination.total).toBeGreaterThan(5);
  await close();
  const before = await effects(data);
  const again = await startControlPlane({ seed: "examples", data });
  expect(await effects(data)).toEqual(before);
  expect((await again.admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value).toBe("mine");
});

test("a seed whose secrets are absent is refused with every place that waits for them, and what to do", async () => {
  await expect(startControlPlane({ seed: "examples/manifests" })).rejects.toMatchObject({
    message: expect.stringMatching(/async-service\.yaml \(document 1\): .*no secret.*; .*jobs\.yaml \(document 1\)/),
    hint: expect.stringContaining("type secret-group"),
  });
});
