import { expect, test } from "vitest";
import { createRequestLimit, ownTurns } from "../../../src/client/request-limit.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { calm, dial, fakeClock, json, page, serve } from "./server.ts";

const workspaces = (connection: ReturnType<typeof dial>, count: number) =>
  Array.from({ length: count }, () => connection.reader.list("listWorkspaces", {}, calm));

test("connections that share a limit have no more requests in flight than it says, together", async () => {
  let inFlight = 0;
  let most = 0;
  const server = await serve(async (response, request) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await systemClock.turn();
    await systemClock.turn();
    inFlight -= 1;
    json(response, page([], request));
  });
  const limit = createRequestLimit(ownTurns({ concurrency: 2, requestsPerSecond: null }, systemClock));
  const connections = [dial(server.url, { limit }), dial(server.url, { limit })];
  await Promise.all(connections.flatMap((connection) => workspaces(connection, 20)));
  expect(server.seen).toHaveLength(40);
  expect(most).toBe(2);
});

test("connections that share a limit begin no more requests in a second than it says, together", async () => {
  let lastAt = 0;
  const server = await serve((response, request) => {
    lastAt = systemClock.monotonic();
    json(response, page([], request));
  });
  const began = systemClock.monotonic();
  const limit = createRequestLimit(ownTurns({ concurrency: null, requestsPerSecond: 100 }, systemClock));
  const connections = [dial(server.url, { limit }), dial(server.url, { limit })];
  await Promise.all(connections.flatMap((connection) => workspaces(connection, 15)));
  // Thirty requests are 29 intervals of 10 ms apart; a late timer may be made up for by one of them. From before the first
  // is sent, since a server that is busy may see that one late.
  expect(lastAt - began).toBeGreaterThanOrEqual(27 * 10);
});

test("requests that failed make room for the next ones", async () => {
  const server = await serve((response, request, nth) => {
    if (nth <= 2) response.destroy();
    else json(response, page([], request));
  });
  const limit = createRequestLimit(ownTurns({ concurrency: 1, requestsPerSecond: null }, systemClock));
  await Promise.all(workspaces(dial(server.url, { limit }), 4));
  expect(server.seen.length).toBeGreaterThanOrEqual(6);
});

const manifest = { type: "team", name: "ml", members: ["a@example.com"] };
const team = { data: { id: "t1", teamName: "ml", manifest } };

/** A limit whose turns come after ten seconds, a right to send until a given time, and what happens in between. */
function lateTurns(until: number, renewal: (validUntil: (time: number) => void) => Error | null | Promise<null>) {
  const clock = fakeClock();
  const events: string[] = [];
  let end = until;
  return {
    clock,
    events,
    limit: {
      wait: (begin: (end: () => void) => void): void => {
        void clock.sleep(10_000).then(() => {
          events.push("turn");
          begin(() => events.push("end"));
        });
      },
    },
    right: {
      isValid: () => clock.monotonic() <= end,
      renew: async () => {
        events.push("renewal");
        return renewal((time) => {
          end = time;
        });
      },
    },
  };
}

test("a write renews its right when it is its turn, and is sent after that", async () => {
  const { clock, events, limit, right } = lateTurns(5_000, (validUntil) => {
    validUntil(clock.monotonic() + 5_000);
    return null;
  });
  const server = await serve((response) => json(response, team));
  const { writer } = dial(server.url, { clock, limit });
  const onSent = (): number => events.push("sent");
  expect(await writer.send("putTeam", { body: { manifest }, right, onSent }, calm)).toMatchObject({ state: "applied" });
  expect(events).toEqual(["turn", "renewal", "sent", "end"]);
});

test("a write whose right has gone while it waited for its turn is not sent, and makes room", async () => {
  const { clock, events, limit, right } = lateTurns(5_000, () => new Error("taken over"));
  const server = await serve((response) => json(response, team));
  const sent = await dial(server.url, { clock, limit }).writer.send("putTeam", { body: { manifest }, right }, calm);
  expect(sent).toMatchObject({ state: "not-sent", reason: "aborted", cause: new Error("taken over") });
  expect(events).toEqual(["turn", "renewal", "end"]);
  expect(server.seen).toEqual([]);
});

test("a write whose right cannot be renewed fails as the renewal does", async () => {
  const { clock, events, limit, right } = lateTurns(5_000, () => {
    throw new Error("no database");
  });
  const server = await serve((response) => json(response, team));
  const { writer } = dial(server.url, { clock, limit });
  await expect(writer.send("putTeam", { body: { manifest }, right }, calm)).rejects.toThrow("no database");
  expect(events).toEqual(["turn", "renewal", "end"]);
  expect(server.seen).toEqual([]);
});

test("a write that is told to wait is sent again only with its right", async () => {
  const { clock, limit, right } = lateTurns(15_000, () => new Error("taken over"));
  const server = await serve((response) => json(response, {}, { status: 429, headers: { "retry-after": "7" } }));
  const sent = await dial(server.url, { clock, limit }).writer.send("putTeam", { body: { manifest }, right }, calm);
  expect(sent).toMatchObject({ state: "not-sent", cause: new Error("taken over"), attempts: 2 });
  expect(server.seen).toHaveLength(1);
});

test("a write that waits for a connection too long gets another turn", async () => {
  const { clock, events, limit, right } = lateTurns(60_000, () => null);
  let checks = 0;
  // Its right ends between its turn and its first byte, once.
  const isValid = (): boolean => {
    checks += 1;
    return checks !== 2 && right.isValid();
  };
  const server = await serve((response) => json(response, team));
  const { writer } = dial(server.url, { clock, limit });
  const sent = await writer.send("putTeam", { body: { manifest }, right: { ...right, isValid } }, calm);
  expect(sent).toMatchObject({ state: "applied", attempts: 1 });
  expect(events).toEqual(["turn", "end", "turn", "end"]);
  expect(server.seen).toHaveLength(1);
});

test("a write whose right takes long to be renewed gets another turn, so that not many begin at once", async () => {
  const { clock, events, limit, right } = lateTurns(5_000, async (validUntil) => {
    await clock.sleep(200);
    validUntil(clock.monotonic() + 20_000);
    return null;
  });
  const server = await serve((response) => json(response, team));
  const { writer } = dial(server.url, { clock, limit });
  const onSent = (): number => events.push("sent");
  expect(await writer.send("putTeam", { body: { manifest }, right, onSent }, calm)).toMatchObject({ state: "applied" });
  expect(events).toEqual(["turn", "renewal", "end", "turn", "sent", "end"]);
});
