import { expect, test } from "vitest";
import { createRequestLimit, ownTurns } from "../../../src/client/request-limit.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { calm, dial, json, page, serve } from "./server.ts";

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
