import { expect, onTestFinished, test } from "vitest";
import { type ConnectOptions, connect } from "../../../../src/client/connect.ts";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { leaseHolderIn, watchBusyLease } from "../../../../src/engine/lease/busy-lease.ts";
import { acquireLease, type LeaseOptions, waitForLease } from "../../../../src/engine/lease/lease.ts";
import { addUser, effects, startControlPlane } from "../../../control-plane.ts";
import { json, serve as serveAnswers } from "../../client/server.ts";

const manifest = { type: "team", name: "ml", members: ["ada@example.com"] };

async function opened(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  const stop = new AbortController();
  const writerOf = (token: Secret, server = plane.url, more: Partial<ConnectOptions> = {}) => {
    const connection = connect({
      server,
      clock: systemClock,
      random: systemRandom,
      token: () => token,
      concurrency: 4,
      requestTimeout: 1000,
      connectTimeout: 1000,
      env: {},
      userAgent: "test",
      signal: stop.signal,
      ...more,
    });
    onTestFinished(() => connection[Symbol.asyncDispose]());
    return connection.writer;
  };
  const writer = writerOf(plane.adminToken);
  const asked = (more: Partial<LeaseOptions> = {}): LeaseOptions => ({
    clock: systemClock,
    writer,
    scope: "main",
    holder: "one",
    requestTimeoutMs: 1000,
    signal: stop.signal,
    ...more,
  });
  /** A lease that is there, let go of after the test. */
  const held = async (more: Partial<LeaseOptions> = {}) => {
    const taken = await acquireLease(asked(more));
    if (taken.state !== "held") throw new Error(`it is ${taken.state}`);
    onTestFinished(() => taken.lease[Symbol.asyncDispose]());
    return taken.lease;
  };
  return { plane, asked, held, writerOf };
}

const never = { signal: new AbortController().signal };

test("writes carry its number, and once the control plane refuses that nothing more is sent", async () => {
  const { plane, held } = await opened();
  // No renewal is due in between.
  const lease = await held({ requestTimeoutMs: 60_000 });
  expect(lease.fencingToken()).toBe(1);
  expect(await lease.writer.send("putTeam", { body: { manifest } }, never)).toMatchObject({ state: "applied" });
  // An administrator has given it to another holder.
  const taken = await plane.admin.put("/api/svc/v1/leases/main", { holder: "two", ttlSeconds: 60, break: true });
  expect(taken.body.data.fencingToken).toBeGreaterThan(1);
  const late = await lease.writer.send("putTeam", { body: { manifest } }, never);
  expect(late).toMatchObject({ state: "refused", status: 412, code: "stale-fencing-token", attempts: 1 });
  expect(lease.isLost()).toBe(true);
  const more = await lease.writer.send("putTeam", { body: { manifest } }, never);
  const message = "nothing was sent: the lease on main was taken by another holder";
  expect(more).toMatchObject({ state: "refused", status: 412, code: "lease-lost", message, attempts: 0 });
});

test("a write whose lease another holder takes while it waits for its turn is not sent", async () => {
  const { plane, held, writerOf } = await opened();
  let slept = 0;
  const clock = { ...systemClock, monotonic: () => performance.now() + slept };
  const lease = await held({ requestTimeoutMs: 60_000, clock });
  const limit = {
    wait: (begin: (end: () => void) => void): void => {
      const turn = async (): Promise<void> => {
        await plane.admin.put("/api/svc/v1/leases/main", { holder: "two", ttlSeconds: 60, break: true });
        slept = 3_600_000;
        begin(() => {});
      };
      void turn();
    },
  };
  const waiting = lease.fenced(writerOf(plane.adminToken, plane.url, { limit }));
  const message = "nothing was sent: the lease on main was taken by another holder";
  expect(await waiting.send("putTeam", { body: { manifest } }, never)).toMatchObject({
    ...{ state: "refused", status: 412, code: "lease-lost", message },
  });
  expect(lease.isLost()).toBe(true);
  expect((await effects(plane.data)).filter((effect) => effect.includes("putTeam"))).toEqual([]);
});

test("a write whose lease ended and was taken again while it waited for its turn is sent with the newer token", async () => {
  const { held, writerOf } = await opened();
  let [tokens, slept] = [0, 0];
  const server = await serveAnswers((response, { path }) => {
    if (!path.includes("/leases/")) return json(response, { data: { id: "t1", teamName: "ml", manifest } });
    tokens += 1;
    const data = { scope: "main", holder: "one", fencingToken: tokens, expiresAt: "2026-01-01T00:00:00.000Z" };
    return json(response, { data });
  });
  const clock = { ...systemClock, monotonic: () => performance.now() + slept };
  const lease = await held({ requestTimeoutMs: 60_000, clock, writer: writerOf(new Secret("token"), server.url) });
  const limit = {
    wait: (begin: (end: () => void) => void): void => {
      if (tokens === 1) slept = 3_600_000;
      begin(() => {});
    },
  };
  const waiting = lease.fenced(writerOf(new Secret("token"), server.url, { limit }));
  expect(await waiting.send("putTeam", { body: { manifest } }, never)).toMatchObject({ state: "applied" });
  const sent = server.seen.filter(({ path }) => !path.includes("/leases/"));
  expect(sent.map(({ headers }) => headers["x-fencing-token"])).toEqual(["2"]);
});

test("a lease that another holder takes while nothing is sent is told once, when it is renewed", async () => {
  const { plane, held } = await opened();
  const told: string[] = [];
  const lost = Promise.withResolvers<void>();
  const onLost = (message: string) => {
    told.push(message);
    lost.resolve();
  };
  const lease = await held({ maxMs: 2000, onLost });
  await plane.admin.put("/api/svc/v1/leases/main", { holder: "two", ttlSeconds: 60, break: true });
  await lost.promise;
  expect(lease.isLost()).toBe(true);
  await lease.writer.send("putTeam", { body: { manifest } }, never);
  expect(told).toEqual(["the lease on main was taken by another holder"]);
});

test("a lease that could not be renewed in time is told from one that another holder took", async () => {
  const { held, writerOf } = await opened();
  const data = { scope: "main", holder: "one", fencingToken: 1, expiresAt: "2026-01-01T00:00:00.000Z" };
  const server = await serveAnswers((response, _, nth) =>
    nth === 1 ? json(response, { data }) : json(response, { message: "no such role" }, { status: 403 }),
  );
  let slept = 0;
  const clock = { ...systemClock, monotonic: () => performance.now() + slept };
  const lease = await held({ writer: writerOf(new Secret("token"), server.url), clock });
  slept = 3_600_000;
  expect(await lease.writer.send("putTeam", { body: { manifest } }, never)).toMatchObject({
    code: "lease-lost",
    message: "nothing was sent: the lease on main could not be renewed in time: answered 403: no such role",
  });
});

test("F34 after a sleep it is renewed before anything is sent", async () => {
  const { held } = await opened();
  let slept = 0;
  const lease = await held({ clock: { ...systemClock, monotonic: () => performance.now() + slept } });
  slept = 3_600_000;
  expect(await lease.writer.send("putTeam", { body: { manifest } }, never)).toMatchObject({ state: "applied" });
  expect(lease.isLost()).toBe(false);
});

test("whoever lives is not waited for, and the refusal names it; its release frees the scope at once", async () => {
  const { asked, held } = await opened();
  const lease = await held();
  const told: string[] = [];
  const other = asked({ holder: "two" });
  const refused = waitForLease(other, { onWait: (message) => void told.push(message), stopping: never.signal });
  await expect(refused).rejects.toMatchObject({
    code: "locked",
    message: expect.stringMatching(/^one has this lease until /),
  });
  expect(told).toEqual([expect.stringMatching(/^one has this lease until /)]);
  // The same name is the same holder.
  expect(await acquireLease(asked())).toMatchObject({ state: "held" });
  await lease[Symbol.asyncDispose]();
});

test("the lease of a holder that has lost its state ends at once for the next one, and what it still sends is rejected", async () => {
  const { asked, held } = await opened();
  const lost = await held({ requestTimeoutMs: 60_000 });
  expect(await acquireLease(asked({ holder: "two" }))).toMatchObject({ state: "busy" });
  expect(await acquireLease(asked({ holder: "two", former: "three" }))).toMatchObject({ state: "busy" });
  const next = await held({ holder: "two", former: "one" });
  expect(next.fencingToken()).toBeGreaterThan(lost.fencingToken());
  const late = await lost.writer.send("putTeam", { body: { manifest } }, never);
  expect(late).toMatchObject({ state: "refused", status: 412 });
});

test("S50 a lease that the control plane does not grant for so long is no reason to write without one", async () => {
  const { asked } = await opened({ maxLeaseSeconds: 30 });
  await expect(acquireLease(asked({ requestTimeoutMs: 29_000 }))).rejects.toMatchObject({
    code: "invalid",
    message: "the control plane refuses a lease of 44 s on main: /ttlSeconds: must be from 1 to 30",
    hint: expect.stringContaining("lower --request-timeout"),
  });
  await expect(acquireLease(asked({ scope: "a b" }))).rejects.toMatchObject({ code: "invalid" });
  expect(await acquireLease(asked({ requestTimeoutMs: 10_000 }))).toMatchObject({ state: "held" });
});

test("a server that answers anything to anything has no leases", async () => {
  const { asked, writerOf } = await opened();
  const anything = await serveAnswers((response) => json(response, { data: {} }));
  expect(await acquireLease(asked({ writer: writerOf(new Secret("token"), anything.url) }))).toEqual({
    state: "none",
    why: "the reply has no fencing token",
  });
});

test("where there are no leases, or none for this caller, it says so and stands in nobody's way", async () => {
  const documented = await opened({ documentedOnly: true });
  expect(await acquireLease(documented.asked())).toEqual({
    state: "none",
    why: "this control plane has no leases",
  });
  const full = await opened();
  await addUser(full.plane, "dev@example.com");
  const dev = full.writerOf(new Secret("token-of-dev-at-example.com"));
  expect(await acquireLease(full.asked({ writer: dev }))).toEqual({
    state: "none",
    why: "you may not write in this scope",
  });
});

test.each([
  ["a gateway's page for a missing route", 404, {}],
  ["a gateway's page for a forbidden one", 403, {}],
  ["a gateway's page for a bad request", 400, {}],
  ["a log-in page", 200, {}],
  ["a redirect to a log-in page", 302, { location: "/login" }],
  ["a token that is not taken just now", 401, {}],
])("F73 %s is no word on leases: nothing is written without one", async (_, status, headers) => {
  const { asked, writerOf } = await opened();
  const page = "<html><body>gateway</body></html>";
  const gateway = await serveAnswers((response) =>
    response.writeHead(status, { "content-type": "text/html", ...headers }).end(page),
  );
  const taking = acquireLease(asked({ writer: writerOf(new Secret("token"), gateway.url) }));
  await expect(taking).rejects.toMatchObject({
    code: status === 401 ? "unauthorized" : "error",
    message: expect.stringMatching(/^nothing was written: the lease on main could not be taken: .*answered \d+/),
  });
});

test("S70 a lease that is renewed is told from one that stays silent, and from one that is released", async () => {
  const { plane, asked, held } = await opened();
  await plane.admin.put("/api/svc/v1/leases/main", { holder: "dead", ttlSeconds: 60 });
  const busy = await acquireLease(asked());
  if (busy.state !== "busy") throw new Error(`it is ${busy.state}`);
  const { message } = busy;
  expect(leaseHolderIn(message, "main")).toEqual({ scope: "main", holder: "dead", until: expect.stringMatching(/Z$/) });
  const watching = { forMs: 200, everyMs: 20, stopping: never.signal };
  expect(await watchBusyLease(asked(), message, watching)).toBe("silent");
  await plane.admin.put("/api/svc/v1/leases/main", { holder: "dead", ttlSeconds: 90 });
  expect(await watchBusyLease(asked(), message, watching)).toBe("renewed");
  await plane.admin.put("/api/svc/v1/leases/main", { holder: "dead", ttlSeconds: 1, release: true });
  expect(await watchBusyLease(asked(), message, watching)).toBe("free");
  // Nothing is left of the look.
  expect((await held()).scope).toBe("main");
});

test("the holder of a lease on an overlapping scope is read with that scope, and other refusals with none", () => {
  const message =
    "a:/b c/.holdfast (12345678) has the lease on dev:web, which overlaps with holdfast, until 2026-11-22T20:00:00.000Z";
  expect(leaseHolderIn(message, "holdfast")).toEqual({
    scope: "dev:web",
    holder: "a:/b c/.holdfast (12345678)",
    until: "2026-11-22T20:00:00.000Z",
  });
  expect(leaseHolderIn("another holder has holdfast", "holdfast")).toBeNull();
});
