import { expect, test } from "vitest";
import { isDocumented, type ListOperation, operation, operations } from "../../../src/contract/operations.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { effects, startControlPlane } from "../../control-plane.ts";
import { calm, dial } from "./server.ts";

const lists = Object.keys(operations).filter(
  (name): name is ListOperation => operation(name as ListOperation).reply === "list",
);
const manifests = {
  cluster: { type: "cluster", name: "dev-eu", cluster_type: "generic" },
  workspace: { type: "workspace", name: "ranking", cluster_fqn: "dev-eu" },
  team: { type: "team", name: "ml", members: ["a@example.com"] },
};

async function start(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  return { ...plane, ...dial(plane.url, { token: () => plane.adminToken }) };
}

test("what is written can be tried, read and listed, and a dry run has no effect", async () => {
  const { reader, writer, data } = await start();
  const before = (await effects(data)).length;
  const tried = await reader.dryRun("putCluster", { manifest: manifests.cluster }, calm);
  expect(tried.manifest).toMatchObject(manifests.cluster);
  expect(await effects(data)).toHaveLength(before);

  expect(await writer.send("putCluster", { body: { manifest: manifests.cluster } }, calm)).toMatchObject({
    state: "applied",
  });
  expect(await writer.send("putWorkspace", { body: { manifest: manifests.workspace } }, calm)).toMatchObject({
    state: "applied",
  });
  expect(await writer.send("putTeam", { body: { manifest: manifests.team } }, calm)).toMatchObject({
    state: "applied",
  });
  expect(await effects(data)).toHaveLength(before + 3);

  expect(await reader.get("getCluster", { path: { id: "dev-eu" } }, calm)).toMatchObject({ name: "dev-eu" });
  expect(await reader.list("listClusters", {}, calm)).toHaveLength(1);
  expect(await reader.list("listWorkspaces", { query: { fqn: "dev-eu:ranking" } }, calm)).toHaveLength(1);
  expect(await reader.list("listTeams", {}, calm)).toHaveLength(1);
});

test("a list of more than one page comes whole", async () => {
  const { reader, writer } = await start();
  const names = Array.from({ length: 23 }, (_, index) => `team-${index}`);
  for (const name of names) await writer.send("putTeam", { body: { manifest: { ...manifests.team, name } } }, calm);
  const rows = await reader.list("listTeams", { limit: 5 }, calm);
  expect(rows.map(({ teamName }) => teamName).toSorted()).toEqual(names.toSorted());
});

test("refusals come with their reason", async () => {
  const { reader, writer, url } = await start();
  expect(await writer.send("putWorkspace", { body: { manifest: manifests.workspace } }, calm)).toMatchObject({
    state: "refused",
    reason: "refused",
    status: 422,
    details: [{ pointer: "/cluster_fqn" }],
  });
  await expect(reader.get("getCluster", { path: { id: "absent" } }, calm)).rejects.toMatchObject({
    reason: "not-found",
  });
  const stranger = dial(url, { token: () => new Secret("nobody") });
  await expect(stranger.reader.list("listTeams", {}, calm)).rejects.toMatchObject({ code: "unauthorized" });
});

test.each(lists.filter((name) => !isDocumented(operation(name))))(
  "%s is a missing route on a documented-only control plane",
  async (name) => {
    const { reader, capabilities } = await start({ documentedOnly: true });
    await expect(reader.list(name, { path: { jobId: "j" } }, calm)).rejects.toMatchObject({ reason: "route-missing" });
    expect(capabilities.support(name)).toBe("no");
  },
);

test("extension writes are refused as missing routes there, and nothing happens", async () => {
  const { writer, data } = await start({ documentedOnly: true });
  for (const name of ["putWorkspace", "putMlRepo", "putModelVersion"] as const) {
    const sent = await writer.send(name, { body: { manifest: manifests.workspace } }, calm);
    expect(sent).toMatchObject({ state: "refused", reason: "route-missing" });
  }
  expect((await effects(data)).filter((effect) => /E\d/.test(effect))).toEqual([]);
});
