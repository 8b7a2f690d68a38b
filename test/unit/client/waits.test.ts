import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createWaitNotices } from "../../../src/client/wait-notice.ts";
import { calm, dial, fakeClock, json, page, serve } from "./server.ts";

const cluster = { data: { id: "c1", name: "c1", manifest: { type: "cluster", name: "c1" } } };
const where = { path: { id: "c1" } };

/** A control plane that asks for a pause with its first answers. */
async function busy(seconds: string | number, { status = 429, times = Number.POSITIVE_INFINITY } = {}) {
  return serve((response, _, nth) =>
    nth <= times
      ? json(response, { message: "too many requests" }, { status, headers: { "retry-after": `${seconds}` } })
      : json(response, cluster),
  );
}

describe("a pause that is longer than --retry-wait", () => {
  test.each([429, 503])("F81 is not waited for after %d: the error has the server's word", async (status) => {
    const clock = fakeClock();
    const server = await busy(3600, { status });
    const { reader } = dial(server.url, { clock });
    await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
      reason: "throttled",
      status,
      message: `GET /api/svc/v1/clusters/{id} answered ${status}: too many requests; it asks to wait 3600 s, until 2026-01-01T01:00:00Z, and --retry-wait is 60 s`,
    });
    expect(clock.waits).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });

  test("F81 stops every other call too, for a quarter of an hour at most", async () => {
    let now = 0;
    const clock = { ...fakeClock(), monotonic: () => now };
    const server = await busy(999_999_999, { times: 1 });
    const { reader } = dial(server.url, { clock });
    for (const minutes of [0, 1, 13]) {
      now = minutes * 60_000;
      await expect(reader.get("getCluster", where, calm)).rejects.toThrow("it asks to wait 999999999 s, until 2057-");
    }
    expect(server.seen).toHaveLength(1);
    now = 15 * 60_000;
    expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
  });

  test("F81 is waited for where it may be longer", async () => {
    const clock = fakeClock();
    const server = await busy(3600, { times: 1 });
    const { reader } = dial(server.url, { clock, retryWait: 3_600_000 });
    expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
    expect(clock.waits).toEqual([3_600_000]);
  });

  test("F81 fails a write as throttled, which was not made", async () => {
    const server = await busy(61);
    const { writer } = dial(server.url);
    expect(await writer.send("putTeam", { body: { manifest: { type: "team" } } }, calm)).toMatchObject({
      state: "refused",
      reason: "throttled",
      message: expect.stringContaining("it asks to wait 61 s"),
      attempts: 1,
    });
  });
});

test("F81 whoever is asked to end does not sit out a pause, though its call may go on", async () => {
  const server = await busy(50);
  const stopping = new AbortController();
  const reason = new Error("the time limit is over");
  const { reader, writer } = dial(server.url, {
    stopping: stopping.signal,
    clock: { ...fakeClock(), sleep: waitForever },
  });
  const calls = [
    reader.get("getCluster", where, calm),
    writer.send("putTeam", { body: { manifest: { type: "team" } } }, calm),
  ];
  const [read, written] = [calls[0], calls[1]];
  await expect.poll(() => server.seen.length).toBeGreaterThan(0);
  stopping.abort(reason);
  await expect(read).rejects.toBe(reason);
  expect(await written).toMatchObject({ state: "not-sent", reason: "aborted" });
});

describe("a lease is renewed", () => {
  const lease = { data: { scope: "main", holder: "a", fencingToken: 1, expiresAt: "2026-01-01T00:00:00.000Z" } };
  const renewal = { path: { scope: "main" }, body: { holder: "a", ttlSeconds: 9 } };
  const team = { body: { manifest: { type: "team" } } };

  test.each([
    ["all connections are in use", () => undefined],
    [
      "the server has asked for a pause",
      (response: ServerResponse) => json(response, {}, { status: 429, headers: { "retry-after": "50" } }),
    ],
  ])("while %s", async (_, answer) => {
    const stop = new AbortController();
    const server = await serve((response, { path }) =>
      path.includes("/leases/") ? json(response, lease) : answer(response),
    );
    const { writer } = dial(server.url, { concurrency: 1, clock: { ...fakeClock(), sleep: waitForever } });
    const waiting = writer.send("putTeam", team, { signal: stop.signal });
    await expect.poll(() => server.seen.length).toBe(1);
    const other = writer.send("putTeam", team, { signal: stop.signal });
    expect(await writer.send("putLease", renewal, calm)).toMatchObject({ state: "applied" });
    expect(server.seen).toHaveLength(2);
    stop.abort();
    await Promise.all([waiting, other]);
  });
});

function waitForever(_: number, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
  return new Promise((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

describe("what is told of waits", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  function told() {
    let now = 0;
    const lines: string[] = [];
    const clock = { ...fakeClock(), monotonic: () => now, now: () => Date.UTC(2026, 0, 1) + now };
    const start = createWaitNotices(clock, (text) => lines.push(text));
    const pass = (ms: number): void => {
      for (let left = ms; left > 0; left -= 1000) {
        now += Math.min(left, 1000);
        vi.advanceTimersByTime(Math.min(left, 1000));
      }
    };
    return { lines, start, pass };
  }

  test("F81 a wait is told of once it has taken five seconds, with its end", () => {
    const { lines, start, pass } = told();
    start().waits({ why: "it is busy", until: 45_000 });
    pass(4999);
    expect(lines).toEqual([]);
    pass(1);
    expect(lines).toEqual(["it is busy, until 2026-01-01T00:00:45Z"]);
    pass(39_000);
    expect(lines).toHaveLength(1);
  });

  test("F81 one that ends sooner is not told of, nor is a slow reply after it", () => {
    const { lines, start, pass } = told();
    const short = start();
    short.waits({ why: "it is busy", until: 3000 });
    pass(3000);
    short.waits(null);
    pass(30_000);
    short.ends();
    start().waits({ why: "it is busy", until: 36_000 });
    pass(4000);
    expect(lines).toEqual([]);
  });

  test("F81 many short waits of one call are one wait", () => {
    const { lines, start, pass } = told();
    const call = start();
    for (const _ of Array.from({ length: 6 })) {
      call.waits({ why: "it cannot be reached", until: 60_000 });
      pass(1000);
    }
    expect(lines).toEqual(["it cannot be reached, until 2026-01-01T00:01:00Z"]);
  });

  test("F81 many calls that wait for the same are told of once, and again when it lasts", () => {
    const { lines, start, pass } = told();
    for (const _ of Array.from({ length: 20 })) start().waits({ why: "it is busy", until: 300_000 });
    pass(59_000);
    expect(lines).toHaveLength(1);
    pass(10_000);
    expect(lines).toHaveLength(2);
  });
});

test("F81 a call says which server it waits for, and why", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const lines: string[] = [];
    const clock = fakeClock();
    const answers = [
      { status: 429, headers: { "retry-after": "45" }, body: { message: "too many requests" } },
      { status: 502, headers: {}, body: {} },
    ];
    const server = await serve((response, request, nth) => {
      const answer = answers[nth - 1];
      return answer === undefined ? json(response, page([], request)) : json(response, answer.body, answer);
    });
    const { reader } = dial(server.url, {
      clock: {
        ...clock,
        sleep: async (milliseconds, options) => {
          vi.advanceTimersByTime(5000);
          await clock.sleep(Math.max(milliseconds, 61_000), options);
        },
      },
      onWait: (text, { isUnreachable }) => lines.push(isUnreachable ? `away: ${text}` : text),
    });
    await reader.list("listTeams", {}, calm);
    expect(lines).toEqual([
      `${server.url} asks for a pause of 45 s (429: too many requests), until 2026-01-01T00:00:45Z`,
      `${server.url} answers 502 to GET /api/svc/v1/teams: trying, until 2026-01-01T00:02:01Z`,
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test("F81 a wait for a control plane that cannot be reached is told as such, since a log tells it by itself", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const told: boolean[] = [];
    const clock = fakeClock();
    const { reader } = dial("http://127.0.0.1:1", {
      clock: {
        ...clock,
        sleep: async (milliseconds, options) => {
          vi.advanceTimersByTime(5000);
          await clock.sleep(milliseconds, options);
        },
      },
      onWait: (_, { isUnreachable }) => told.push(isUnreachable),
    });
    await expect(reader.list("listTeams", {}, calm)).rejects.toThrow("cannot be reached");
    expect(told[0]).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
