import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { endFormerAdminTokensInDatabase, rotateAdminTokenInDatabase } from "../../src/server/offline-admin.ts";
import { caller, effects, startControlPlane } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/kept-log.ts";
import { machine } from "../support/machine.ts";
import { databaseOf } from "../support/test-database.ts";

const me = "/api/svc/v1/me";
const tokens = (...lines: readonly string[]) => new Secret(lines.map((line) => `${line}\n`).join(""));
const [first, second, third] = ["the-first-admin-token", "the-second-admin-token", "the-third-admin-token"] as const;

async function statuses(url: string, ...of: readonly string[]) {
  return Promise.all(of.map(async (token) => (await caller(url, new Secret(token)).get(me)).status));
}

/** What an offline command takes to find the data. */
async function offline(data: string) {
  const database = await databaseOf(data);
  return {
    ...machine,
    data,
    log: createLog({ level: "silent" }),
    ...(database === null ? {} : { database: new Secret(database) }),
  };
}

test("two tokens that are given are valid at once, and the former ends for good when the newest is given alone", async () => {
  const { log, entries } = keptLog();
  const one = await startControlPlane({ adminToken: tokens(first) });
  const { data } = one;
  await one.close();
  const both = await startControlPlane({ data, adminToken: tokens(second, first) });
  expect(await statuses(both.url, first, second)).toEqual([200, 200]);
  expect(both.adminToken.open()).toBe(second);
  await both.close();
  // A server with the former setting ends nothing.
  const late = await startControlPlane({ data, adminToken: tokens(first) });
  expect(await statuses(late.url, first, second)).toEqual([200, 200]);
  await late.close();
  const alone = await startControlPlane({ data, adminToken: tokens(second), log });
  expect(await statuses(alone.url, first, second)).toEqual([401, 200]);
  const ended = { tokens: [expect.stringMatching(/^bootstrap-/)], personal: 0 };
  expect(entries()).toContainEqual(expect.objectContaining({ level: "warn", ...ended }));
  await alone.close();
  // Nor does one that still has both bring it back.
  const again = await startControlPlane({ data, adminToken: tokens(second, first) });
  expect(await statuses(again.url, first, second)).toEqual([401, 200]);
  await again.close();
  await expect(startControlPlane({ data, adminToken: tokens(first) })).rejects.toThrow(
    "HOLDFAST_ADMIN_TOKEN has ended",
  );
  expect(await effects(data)).toEqual([
    expect.stringMatching(/^bootstrap admin-token user-token\/bootstrap-/),
    expect.stringMatching(/^bootstrap admin-token ended-user-token\/bootstrap-/),
  ]);
  await expect(startControlPlane({ adminToken: tokens(first, second, third) })).rejects.toThrow(
    "at most 2 admin tokens",
  );
});

test("a rotation makes a second token while the server runs, and the former one ends when it is told to", async () => {
  const { url, data, adminToken, close } = await startControlPlane();
  const former = adminToken.open();
  const { file, ended } = await rotateAdminTokenInDatabase(await offline(data));
  expect({ file, ended }).toEqual({ file: join(data, "admin-token"), ended: 0 });
  const newest = (await readFile(file, "utf8")).trim();
  await eventually("it is valid", async () => (await statuses(url, newest))[0] === 200);
  expect(await statuses(url, former)).toEqual([200]);
  expect(await endFormerAdminTokensInDatabase(await offline(data))).toBe(1);
  await eventually("the former has ended", async () => (await statuses(url, former))[0] === 401);
  expect(await statuses(url, newest)).toEqual([200]);
  expect(await endFormerAdminTokensInDatabase(await offline(data))).toBe(0);
  // A second rotation ends what the first has left.
  await rotateAdminTokenInDatabase(await offline(data));
  await rotateAdminTokenInDatabase(await offline(data));
  await eventually("the earliest has ended", async () => (await statuses(url, newest))[0] === 401);
  await close();
  const again = await startControlPlane({ data });
  expect(again.adminToken.open()).toBe((await readFile(file, "utf8")).trim());
});

test("a file whose token has ended is no token: a new one is made, and the log says so", async () => {
  const { log, entries } = keptLog();
  const one = await startControlPlane();
  const { data } = one;
  await one.close();
  const given = await startControlPlane({ data, adminToken: tokens(first) });
  await given.close();
  const fresh = await startControlPlane({ data, log });
  expect(fresh.adminToken.open()).not.toBe(one.adminToken.open());
  expect(await statuses(fresh.url, first, one.adminToken.open(), fresh.adminToken.open())).toEqual([401, 401, 200]);
  expect(entries().map(({ msg }) => msg)).toContain("a new admin token was made");
  await fresh.close();
  // One that was put there by hand is the newest.
  await writeFile(join(data, "admin-token"), `${second}\n`);
  const own = await startControlPlane({ data });
  expect(await statuses(own.url, second, fresh.adminToken.open())).toEqual([200, 401]);
  await own.close();
  const asked = await startControlPlane({ data, newAdminToken: true });
  expect(await statuses(asked.url, second)).toEqual([401]);
  const both = { data, adminToken: tokens(third), newAdminToken: true };
  await asked.close();
  await expect(startControlPlane(both)).rejects.toThrow("use one of them");
});
