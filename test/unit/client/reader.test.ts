import { expect, test } from "vitest";
import { calm, dial, json, page, serve } from "./server.ts";

const workspace = (name: string) => ({
  id: `id-${name}`,
  fqn: `c:${name}`,
  name,
  manifest: { type: "workspace", name },
});

test("a single read sends the bearer token and gives the data of the envelope", async () => {
  const server = await serve((response) => json(response, { data: { id: "c1", name: "c1", manifest: {} } }));
  const { reader } = dial(`${server.url}/base/`);
  expect(await reader.get("getCluster", { path: { id: "c/1" } }, calm)).toMatchObject({ id: "c1" });
  expect(server.seen[0]).toMatchObject({
    method: "GET",
    path: "/base/api/svc/v1/clusters/c%2F1",
    headers: { authorization: "Bearer test-token", "user-agent": "holdfast/test" },
  });
});

test("a list is read whole, in pages of 1,000, in the server's order", async () => {
  const rows = Array.from({ length: 4321 }, (_, index) => workspace(`w${index}`));
  const server = await serve((response, request) => json(response, page(rows, request)));
  const { reader } = dial(server.url);
  const listed = await reader.list("listWorkspaces", { query: { clusterId: "c" } }, calm);
  expect(listed.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
  expect(server.seen.map(({ query }) => query.get("offset")).toSorted()).toEqual(["0", "1000", "2000", "3000", "4000"]);
  expect(server.seen.every(({ query }) => query.get("clusterId") === "c" && query.get("limit") === "1000")).toBe(true);
});

test("a dry run says dryRun: true, whatever the body says", async () => {
  const server = await serve((response) =>
    json(response, { data: { id: null, manifest: { type: "team", name: "ml" } } }),
  );
  const { reader } = dial(server.url);
  const manifest = { type: "team", name: "ml" };
  const body = JSON.parse(JSON.stringify({ manifest, dryRun: false }));
  expect(await reader.dryRun("putTeam", body, calm)).toMatchObject({ id: null });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ manifest, dryRun: true });
});

test("no member of a reader can send a write, even when the types are bypassed", async () => {
  const server = await serve((response) => json(response, { data: {} }));
  const { reader } = dial(server.url);
  const untyped: Record<string, (name: string, content: object, stop: object) => Promise<unknown>> = JSON.parse("{}");
  Object.assign(untyped, reader);
  expect(Object.keys(reader).toSorted()).toEqual(["dryRun", "get", "list", "page"]);
  for (const how of Object.keys(reader)) {
    for (const name of ["getPersonalAccessToken", "postModelVersion", "createSecretGroup", "putPromptVersion"]) {
      await expect(untyped[how]?.(name, { path: { name: "x" }, manifest: {} }, calm)).rejects.toThrow(TypeError);
    }
  }
  expect(server.seen).toEqual([]);
});
