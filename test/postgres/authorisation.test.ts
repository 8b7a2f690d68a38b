import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { account, cluster } from "../conformance/platform.ts";
import { caller, effects, startControlPlane } from "../control-plane.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const accounts = "/api/svc/v1/virtual-accounts";
const tokens = "/api/svc/v1/personal-access-tokens";
const clusters = "/api/svc/v1/clusters";
/** A control plane, two callers with all rights, and a connection beside it. */
async function planted() {
  const plane = await startControlPlane();
  const { admin, url, data } = plane;
  const { token } = (await admin.put(accounts, { manifest: account })).body;
  const ci = caller(url, new Secret(token));
  const personal = caller(url, new Secret((await ci.get(`${tokens}/x`)).body.token));
  // Both are known to the server now.
  for (const one of [ci, personal]) await one.get(clusters);
  const beside = new Client({ connectionString: (await databaseOf(data)) ?? "" });
  await beside.connect();
  onTestFinished(() => beside.end());
  return { ...plane, ci, personal, beside };
}

/** Waits until a statement of the server, or of another connection, waits for a lock. */
function someoneWaits(data: string, text: string) {
  return expect
    .poll(
      async () =>
        (await statement(data, "SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).filter(
          ({ query }) => String(query).includes(text),
        ).length,
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0);
}

test("S80 a write waits for whoever takes away its caller's token or role, and is refused then", async () => {
  const { admin, ci, personal, beside, data } = await planted();
  const taken = [
    ["DELETE FROM personal_tokens", personal, 401],
    ["DELETE FROM grants WHERE source = 'virtual-account/ci'", ci, 403],
    ["DELETE FROM jwts", ci, 401],
  ] as const;
  const before = await effects(data);
  for (const [statementText, writer, status] of taken) {
    await beside.query("BEGIN");
    await beside.query(statementText);
    const writing = writer.put(clusters, { manifest: cluster });
    await someoneWaits(data, "held_token");
    await beside.query("COMMIT");
    expect([statementText, (await writing).status]).toEqual([statementText, status]);
  }
  expect(await effects(data)).toEqual(before);
  expect((await admin.put(clusters, { manifest: cluster })).status).toBe(200);
});

test("S80 a token is revoked after the writes that it has begun, never before one of them takes effect", async () => {
  const { personal, beside, data } = await planted();
  await beside.query("BEGIN");
  // The write stops before its last statement.
  await beside.query("LOCK TABLE audit IN SHARE MODE");
  const writing = personal.put(clusters, { manifest: cluster });
  await someoneWaits(data, "audit");
  const revoking = statement(data, "DELETE FROM personal_tokens RETURNING 'revoked' AS done");
  await someoneWaits(data, "DELETE FROM personal_tokens");
  await beside.query("COMMIT");
  expect((await writing).status).toBe(200);
  expect(await revoking).toEqual([{ done: "revoked" }]);
  expect((await personal.put(clusters, { manifest: { ...cluster, name: "c2x" } })).status).toBe(401);
});
