import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { StreamEvent } from "../../../../src/contract/stream-event.ts";
import { createEventStreams } from "../../../../src/daemon/api/event-stream.ts";
import { emptyDaemonServer } from "../../../support/daemon-server.ts";
import { eventually } from "../../../support/eventually.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

type Received = { readonly id: string; readonly data: StreamEvent };

const block = /^(?:retry: \d+\n)?id: (\S+)\nevent: (\S+)\ndata: (.*)$/;

function receivedIn(text: string): readonly Received[] {
  return text.split("\n\n").flatMap((part) => {
    const [, id = "", name, data = ""] = block.exec(part) ?? [];
    if (name === undefined) return [];
    const parsed: StreamEvent = JSON.parse(data);
    expect(parsed.event).toBe(name);
    return [{ id, data: parsed }];
  });
}

/** Follows the events of a server until the test ends. */
async function follow(url: string, after?: string) {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const headers = after === undefined ? {} : { "last-event-id": after };
  const reply = await fetch(`${url}/api/v1/stream`, { headers, signal: ended.signal });
  let text = "";
  let isOver = false;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const part of reply.body ?? []) text += decoder.decode(part, { stream: true });
  })()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  return {
    reply,
    events: () => receivedIn(text).map(({ data }) => data),
    last: () => receivedIn(text).at(-1)?.id ?? "",
    isOver: () => isOver,
    leave: () => ended.abort(),
  };
}

const job = { target: "prod", scope: "all", cause: "request" } as const;

test("a reader sees a pass begin, go on and end, and what became of resources, at once", async () => {
  const server = await emptyDaemonServer();
  const reader = await follow(server.url);
  expect(reader.reply.headers.get("content-type")).toBe("text/event-stream");
  expect(reader.reply.headers.get("cache-control")).toContain("no-store");
  await eventually("the first event", () => reader.events()[0]?.event === "opened");
  const { begin, emit, stored } = server.observe("prod");
  const before = performance.now();
  begin?.(job);
  const outcome = {
    identity: "team/ml",
    kind: "team",
    result: "failed",
    file: null,
    rollout: null,
    attempts: 1,
  } as const;
  const error = { code: "refused", message: "no" };
  emit({ what: "begun", steps: 3 });
  emit({ what: "finished", step: { identity: "team/ml" } as never, outcome: { ...outcome, error }, place: null });
  await eventually("the outcome", () => reader.events().some(({ event }) => event === "outcome"));
  await eventually("the progress", () => reader.events().some(({ event }) => event === "progress"));
  expect(performance.now() - before).toBeLessThan(20_000);
  emit(sampleApplyEvent([]));
  stored?.();
  server.configured("holdfast.yaml is broken");
  await eventually("the end", () => reader.events().at(-1)?.event === "configuration");
  const [, ...events] = reader.events();
  expect(events).toMatchObject([
    { event: "pass-began", target: "prod", pass: { cause: "request", scope: "all", phase: "reading", writes: null } },
    { event: "outcome", target: "prod", identity: "team/ml", state: "failed", why: "no" },
    { event: "progress", target: "prod", pass: { phase: "writing", writes: 3, written: 1, failed: 1 } },
    { event: "pass-ended", target: "prod", pass: null },
    { event: "configuration", refused: "holdfast.yaml is broken" },
  ]);
});

test("a reader that comes back gets what it missed, and is told to read anew where that is not known", async () => {
  const server = await emptyDaemonServer();
  const first = await follow(server.url);
  await eventually("the first event", () => first.events().length === 1);
  server.configured("one");
  await eventually("the second event", () => first.events().length === 2);
  const last = first.last();
  first.leave();
  server.configured("two");
  const again = await follow(server.url, last);
  await eventually("what was missed", () => again.events().length === 2);
  expect(again.events()).toMatchObject([{ event: "opened" }, { event: "configuration", refused: "two" }]);
  for (const unknown of [`${last}9`, "another-1", "", "x".repeat(1000)]) {
    const stranger = await follow(server.url, unknown);
    await eventually("the snapshot", () => stranger.events().some(({ event }) => event === "snapshot-needed"));
    stranger.leave();
  }
  server.watch({ targets: ["other"], sources: [], receivers: [] });
  await eventually("other targets", () => again.events().at(-1)?.event === "snapshot-needed");
});

test("no more streams than the limit are open, a refusal is clear, and a place becomes free again", async () => {
  const server = await emptyDaemonServer({ clock: { ...systemClock, now: advancing() } });
  const readers = await Promise.all(Array.from({ length: 200 }, () => follow(server.url)));
  expect(readers.filter(({ reply }) => reply.status === 200)).toHaveLength(200);
  const refused = await fetch(`${server.url}/api/v1/stream`);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await refused.json()).toMatchObject({ code: "too-many-streams" });
  readers[7]?.leave();
  await eventually("a free place", async () => {
    const { status, body } = await fetch(`${server.url}/api/v1/stream`);
    await body?.cancel();
    return status === 200;
  });
  await server[Symbol.asyncDispose]();
  await eventually("the end of all", () => readers.every(({ isOver }) => isOver()));
});

/** A clock that goes on by a second with each look, so that no request comes too soon. */
function advancing(): () => number {
  let now = 0;
  return () => {
    now += 1000;
    return now;
  };
}

test("what waits for a slow reader is bounded: events are dropped, and it is told to read anew", async () => {
  const server = await emptyDaemonServer();
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (part) => {
    text += part.toString();
  });
  socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await eventually("the first event", () => text.includes("event: opened"));
  socket.pause();
  // Far more than the system's own buffers hold.
  const long = "x".repeat(10_000);
  const heap = process.memoryUsage().heapUsed;
  for (let nth = 0; nth < 2000; nth += 1) {
    server.configured(`${nth} ${long}`);
    if (nth % 20 === 0) await systemClock.turn();
  }
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(100e6);
  socket.resume();
  await eventually("the snapshot", () => text.includes("event: snapshot-needed"));
  const received = text.match(/event: configuration/g) ?? [];
  expect(received.length).toBeLessThan(1990);
  server.configured("after it");
  await eventually("what comes after it", () => text.includes("after it"));
});

test("S32 a stream ends at the next heartbeat once its token is not the right one any more", () => {
  let beat: () => void = () => {};
  const every = (_: number, call: () => void): Disposable => {
    beat = call;
    return { [Symbol.dispose]: () => {} };
  };
  let isAllowed = true;
  using streams = createEventStreams({ clock: { ...systemClock, every }, epoch: "e", build: "b" });
  const stream = streams.open({ after: null, isAllowed: () => isAllowed });
  const read = (): string => String(stream.read() ?? "");
  expect(read()).toMatch(/^retry: 1000\nid: e-0\nevent: opened\n/);
  beat();
  expect(read()).toBe(": still here\n\n");
  isAllowed = false;
  beat();
  streams.publish({ event: "configuration", refused: null });
  expect(read()).toBe("");
});
