import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Clock } from "../../src/clock/clock.ts";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import {
  endFormerAdminTokensInDatabase,
  revokeInDatabase,
  rotateAdminTokenInDatabase,
} from "../../src/server/offline-admin.ts";
import { startControlPlane, temporaryFolder } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/kept-log.ts";
import { machine } from "../support/machine.ts";
import { databaseOf } from "../support/test-database.ts";
import { createAuthority } from "../unit/client/certificate.ts";

/** A clock by which a database is slow, and told to be, only after minutes. */
const patient: Clock = {
  ...machine.clock,
  sleep: (milliseconds, options) => machine.clock.sleep(100 * milliseconds, options),
};

/** A log, and the events that an operator sees at the default level. */
function shownLog() {
  const { log, entries } = keptLog();
  const shown = () => entries().filter(({ level }) => level !== "debug" && level !== "trace");
  return { log, entries, shown, events: () => shown().map(({ event }): string => event) };
}

test("a start is told with what runs and on what, and an end with what is in progress", async () => {
  const { log, shown, events } = shownLog();
  const build = { version: "1.2.3", commit: "4f5e6d" };
  const plane = await startControlPlane({
    log,
    clock: patient,
    build,
    startedWith: { drainSeconds: 1 },
    revoke: ["user:admin"],
  });
  await plane.close();
  expect(events()).toEqual(["tokens-revoked", "started", "ready", "drained", "audit-checkpoint"]);
  expect(shown()[1]).toMatchObject({
    ...build,
    node: process.version,
    url: plane.url,
    data: plane.data,
    database: expect.stringMatching(/^(?:sqlite|postgresql)$/),
    schema: expect.stringMatching(/^\d{4}/),
    keys: [expect.any(String)],
    tls: false,
    flags: { drainSeconds: 1 },
  });
});

test("tokens are told when they end or are made: by a caller, or by a command beside the server", async () => {
  const { log, shown } = shownLog();
  const { admin, data } = await startControlPlane({ log });
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-member" }];
  for (const name of ["lost", "leaver"])
    await admin.put("/api/svc/v1/virtual-accounts", { manifest: { type: "virtual-account", name, permissions } });
  const { id } = (await admin.get("/api/svc/v1/personal-access-tokens/laptop")).body.data;
  const database = await databaseOf(data);
  const beside = {
    ...machine,
    data,
    log: createLog({ level: "silent" }),
    ...(database && { database: new Secret(database) }),
  };
  await admin.post("/api/svc/v1/personal-access-tokens", { revoke: id });
  await admin.post("/api/svc/v1/subjects/disable", { subject: "virtualaccount:leaver" });
  for (const remove of [false, true]) await admin.put("/api/svc/v1/users", { email: "ada@example.com", remove });
  await revokeInDatabase(beside, ["virtualaccount:lost"]);
  await rotateAdminTokenInDatabase(beside);
  await endFormerAdminTokensInDatabase(beside);
  const told = () =>
    shown().flatMap(({ event, principal, resource }) => (resource ? [[event, principal, resource]] : []));
  await eventually("all is told", () => told().length >= 7);
  expect(told().toSorted()).toEqual([
    ["admin-token-ended", "bootstrap", expect.stringMatching("^ended-user-token/bootstrap-")],
    ["admin-token-made", "bootstrap", expect.stringMatching("^user-token/bootstrap-")],
    ["subject-disabled", "user:admin", "disabled-subject/virtualaccount:leaver"],
    ["tokens-revoked", "revocation", "virtual-account/lost"],
    ["tokens-revoked", "user:admin", "personal-access-token/user:admin/laptop"],
    ["user-added", "user:admin", "user/ada@example.com"],
    ["user-removed", "user:admin", "removed-user/ada@example.com"],
  ]);
});

test("leases are told when they are taken, lost and taken over, and not when they are renewed or refused", async () => {
  const { log, shown } = shownLog();
  const { admin } = await startControlPlane({ log });
  const ask = async (holder: string, more: object = {}) =>
    (await admin.put("/api/svc/v1/leases/main", { holder, ttlSeconds: 60, ...more })).status;
  expect(await ask("a")).toBe(200);
  expect(await ask("a")).toBe(200);
  expect(await ask("b")).toBe(409);
  expect(await ask("b", { break: true })).toBe(200);
  expect(await ask("c", { break: true, release: true })).toBe(200);
  expect(await ask("c")).toBe(200);
  expect(await ask("c", { release: true })).toBe(200);
  expect(await ask("c", { release: true })).toBe(200);
  const told = shown().filter(({ event }) => event.startsWith("lease-"));
  expect(told.map(({ event, holder, from }) => ({ event, holder, from }))).toEqual([
    { event: "lease-taken", holder: "a" },
    { event: "lease-taken-over", holder: "b", from: ["a"] },
    { event: "lease-broken", holder: "c", from: ["b"] },
    { event: "lease-taken", holder: "c" },
    { event: "lease-released", holder: "c" },
  ]);
});

test("a certificate is told when it is replaced, once while it cannot be read, and when it is mended", async () => {
  const folder = await temporaryFolder();
  const tls = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const authority = createAuthority();
  const [first, second] = [authority.issue("server.example.com"), authority.issue("server.example.com")];
  const put = async ({ cert, key }: { readonly cert: string; readonly key: string }) => {
    // Between the two the pair does not fit, as when someone copies them by hand.
    await writeFile(tls.key, key);
    await writeFile(tls.certificate, cert);
  };
  await put(first);
  const { log, entries, shown, events } = shownLog();
  const plane = await startControlPlane({ tls, log, fileCheckSeconds: 0.02 });
  const count = (event: string) => events().filter((one) => one === event).length;
  await writeFile(tls.certificate, "broken");
  await eventually("it is told", () => count("certificate-unreadable") === 1);
  await eventually("it was read again", () => entries().filter(({ event }) => /unreadable/.test(event)).length > 1);
  await writeFile(tls.certificate, first.cert);
  await eventually("it is mended", () => count("certificate-readable") === 1);
  await put(second);
  await eventually("it is replaced", () => count("certificate-replaced") === 1);
  await plane.close();
  const told = shown().filter(({ event }) => event.startsWith("certificate-"));
  expect(told.slice(0, 2).map(({ event }) => event)).toEqual(["certificate-unreadable", "certificate-readable"]);
  expect(told.at(-1)).toMatchObject({ event: "certificate-replaced", certificate: tls.certificate });
  for (const entry of told) expect(entry).not.toHaveProperty("err");
});

test("under requests, it logs one line for each at the default level, and none for probes", async () => {
  const { log, events } = shownLog();
  const { admin, url } = await startControlPlane({ log, clock: patient });
  const before = events();
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      await admin.get("/api/svc/v1/workspaces");
      await admin.get("/api/svc/v1/clusters/absent");
      await fetch(`${url}/api/svc/v1/workspaces`);
      await fetch(`${url}/readyz`);
    }),
  );
  await eventually("each is logged", () => events().length >= before.length + 30);
  expect(events().slice(before.length)).toEqual(Array(30).fill("answered"));
});
