import { expect, test } from "vitest";
import { calm, dial, json, page, serve } from "./server.ts";

const team = { id: "t1", fqn: "ml", name: "ml", manifest: { type: "team", name: "ml" } };

/** A control plane with one team, which refuses all else with a status. */
async function controlPlane() {
  const answers = { team: team as object, refusal: 403 };
  const server = await serve((response, request) =>
    request.path.endsWith("/teams")
      ? json(response, page([answers.team], request))
      : json(response, { message: "no" }, { status: answers.refusal }),
  );
  return { ...dial(server.url), server, answers };
}

test("requests are recorded with their answers, also those that are refused, and are the same while each answer is", async () => {
  const { requests, reader, server, answers } = await controlPlane();
  requests.begin();
  await reader.list("listTeams", {}, calm);
  await expect(reader.get("getCluster", { path: { id: "c1" } }, calm)).rejects.toThrow();
  const recorded = requests.sinceBegin() ?? [];
  expect(recorded).toMatchObject([
    { operation: "listTeams", query: { limit: 1000 }, status: 200, digest: expect.any(String) },
    { operation: "getCluster", path: { id: "c1" }, status: 403, digest: null },
  ]);
  const before = server.seen.length;
  expect(await requests.haveSameAnswers(JSON.parse(JSON.stringify(recorded)), calm)).toBe(true);
  expect(server.seen.slice(before).map(({ path }) => path)).toEqual(
    server.seen.slice(0, before).map(({ path }) => path),
  );
  answers.refusal = 404;
  expect(await requests.haveSameAnswers(recorded, calm)).toBe(false);
  answers.team = { ...team, manifest: { ...team.manifest, members: [] } };
  const asked = server.seen.length;
  expect(await requests.haveSameAnswers(recorded, calm)).toBe(false);
  // It ends with the first that differs.
  expect(server.seen.length).toBe(asked + 1);
});

test("nothing is recorded before it begins, of what writes, or of more than 100 requests", async () => {
  const { requests, reader } = await controlPlane();
  await reader.list("listTeams", {}, calm);
  expect(requests.sinceBegin()).toBe(null);
  requests.begin();
  expect(requests.sinceBegin()).toEqual([]);
  const { manifest } = team;
  await expect(reader.dryRun("putTeam", { manifest }, calm)).rejects.toThrow();
  await reader.list("listTeams", {}, calm);
  expect(requests.sinceBegin()).toBe(null);
  requests.begin();
  for (let nth = 0; nth < 100; nth += 1) await reader.list("listTeams", {}, calm);
  expect(requests.sinceBegin()).toHaveLength(100);
  await reader.list("listTeams", {}, calm);
  expect(requests.sinceBegin()).toBe(null);
});

test("an answer that is not clear, or none, is none that stays the same", async () => {
  const elsewhere = await serve((response) => response.writeHead(302, { location: "/" }).end());
  const { requests, reader } = dial(elsewhere.url);
  requests.begin();
  await expect(reader.get("getCluster", { path: { id: "c1" } }, calm)).rejects.toThrow();
  expect(requests.sinceBegin()).toBe(null);
  const asked = { operation: "getCluster", path: { id: "c1" }, query: {}, status: 302, digest: null } as const;
  expect(await requests.haveSameAnswers([asked], calm)).toBe(false);
  expect(await requests.haveSameAnswers([asked], { signal: AbortSignal.abort() })).toBe(false);
});
