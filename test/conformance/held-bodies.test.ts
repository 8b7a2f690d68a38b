import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { operations } from "../../src/contract/operations.ts";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, caller, effects, startControlPlane } from "../control-plane.ts";
import { accountWith, everyWrite, placeOf, plantForWrites } from "../support/every-write.ts";
import { cluster, plantWorkspace } from "./platform.ts";

const accounts = "/api/svc/v1/virtual-accounts";
const tokens = "/api/svc/v1/personal-access-tokens";

type Write = { readonly name: string; readonly body: object; readonly token: string; readonly key: string | null };

/** Sends all of a write but the last byte of its body; the answer comes once that is sent. */
async function hold(url: string, { name, body, token, key }: Write) {
  const { path, method } = placeOf(name);
  const json = JSON.stringify(body);
  const sending = request(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(json),
      // The server answers this when it has the headers.
      expect: "100-continue",
      ...(key !== null && { "idempotency-key": key }),
    },
  });
  const answer = once(sending, "response");
  const early = answer.then(([{ statusCode }]) => {
    throw new Error(`${name} was answered ${statusCode} before its body was asked for`);
  });
  sending.flushHeaders();
  await Promise.race([once(sending, "continue"), early]);
  early.catch(() => undefined);
  sending.write(json.slice(0, -1));
  return async () => {
    sending.end(json.slice(-1));
    const [response] = await answer;
    await text(response);
    return Number(response.statusCode);
  };
}

async function planted() {
  const plane = await startControlPlane();
  const ids = await plantForWrites(plane.admin);
  const { admin, url } = plane;
  const tokenOf = async (name: string) =>
    (await admin.put(accounts, accountWith(name, "tenant-admin"))).body.token as string;
  const [losesRole, losesToken] = [await tokenOf("loses-role"), await tokenOf("loses-token")];
  const personal = (await caller(url, new Secret(losesToken)).get(`${tokens}/held`)).body;
  return { ...plane, ids, losesRole, personal };
}

test("S80 every operation with a body is among those whose body is held back", () => {
  const bodied = Object.entries(operations).flatMap(([name, row]) =>
    row.retry !== "read" && "body" in row ? [name] : [],
  );
  expect(Object.keys(everyWrite).toSorted()).toEqual(bodied.toSorted());
});

test("S80 a write whose caller loses its token or its role while the body is held back has no effect", async () => {
  const { admin, url, data, ids, losesRole, personal } = await planted();
  const all = Object.entries(everyWrite).map(([name, body]) => ({ name, body: body(ids) }));
  const held = await Promise.all(
    all.flatMap((write) =>
      [null, randomUUID()].flatMap((key) =>
        [losesRole, personal.token as string].map(async (token) => ({
          write: `${write.name} ${key === null ? "" : "with a key "}by ${token === losesRole ? "role" : "token"}`,
          isByToken: token !== losesRole,
          finish: await hold(url, { ...write, token, key }),
        })),
      ),
    ),
  );
  await admin.put(accounts, accountWith("loses-role", "tenant-member"));
  await admin.post(tokens, { revoke: personal.data.id });
  const before = await effects(data);
  for (const { write, isByToken, finish } of held) {
    const status = await finish();
    expect([write, isByToken ? status === 401 : [403, 404, 422].includes(status), status]).toEqual([
      write,
      true,
      status,
    ]);
  }
  expect(await effects(data)).toEqual(before);
  // Each of them is accepted from a caller who keeps both.
  const { token } = (await admin.get(`${tokens}/keeps`)).body;
  for (const { name, body } of all) {
    const finish = await hold(url, { name, body, token, key: null });
    expect([name, await finish()]).toEqual([name, 200]);
  }
});

test("S80 so has one whose caller is disabled, leaves the team with the role, or loses what its token was made with", async () => {
  const plane = await startControlPlane();
  const { admin, url, data } = plane;
  await plantWorkspace(admin);
  const team = (...members: readonly string[]) => ({ manifest: { type: "team", name: "ops", members } });
  await admin.put("/api/svc/v1/teams", team("ada@example.com", "dev@example.com"));
  const collaborators = [{ subject: "team:ops", role_id: "cluster-admin" }];
  await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, collaborators } });
  await addUser(plane, "dev@example.com");
  const { token: leaver } = (await admin.put(accounts, accountWith("leaver", "tenant-admin"))).body;
  const root = (await admin.get(`${tokens}/root`)).body;
  const made = (await caller(url, new Secret(root.token)).get(`${tokens}/made`)).body;
  const heldBy = async (token: string, name: string, body: object) => hold(url, { name, body, token, key: null });
  const held = [
    await heldBy(leaver, "putTeam", everyWrite.putTeam()),
    await heldBy(made.token, "putTeam", everyWrite.putTeam()),
    await heldBy("token-of-dev-at-example.com", "putCluster", { manifest: { ...cluster, collaborators: [] } }),
  ];
  await admin.post("/api/svc/v1/subjects/disable", { subject: "virtualaccount:leaver" });
  await admin.post(tokens, { revoke: root.data.id });
  await admin.put("/api/svc/v1/teams", team("ada@example.com"));
  const before = await effects(data);
  const statuses: number[] = [];
  for (const finish of held) statuses.push(await finish());
  expect(statuses).toEqual([401, 401, 403]);
  expect(await effects(data)).toEqual(before);
});

test("S80 a write whose caller gets the role while the body is held back is made", async () => {
  const { admin, url, data } = await planted();
  const { token } = (await admin.put(accounts, accountWith("gets-role", "tenant-member"))).body;
  const finish = await hold(url, { name: "putTeam", body: everyWrite.putTeam(), token, key: null });
  await admin.put(accounts, accountWith("gets-role", "tenant-admin"));
  expect(await finish()).toBe(200);
  expect((await effects(data)).at(-1)).toBe("virtualaccount:gets-role 19 team/ml");
});
