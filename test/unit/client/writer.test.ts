import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { WriteContent } from "../../../src/client/writer.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { type Operation, operations, type WriteOperation } from "../../../src/contract/operations.ts";
import { calm, dial, fakeClock, json, type Seen, serve, serveBytes } from "./server.ts";

const manifest = { type: "team", name: "ml", members: ["a@example.com"] };
const team = { data: { id: "t1", teamName: "ml", manifest } };

const writes = Object.entries<Operation>(operations)
  .filter(([, { retry }]) => retry !== "read")
  .map(([name, { retry }]) => [name as WriteOperation, retry] as const);

function contentOf(name: WriteOperation): WriteContent {
  const parameters = { name: "n", scope: "s" };
  return name === "getPersonalAccessToken" ? { path: parameters } : { path: parameters, body: { manifest: {} } };
}

test("a write gives the data of the envelope", async () => {
  const server = await serve((response) => json(response, team));
  const { writer } = dial(server.url);
  const sent = await writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "applied", status: 200, data: { id: "t1" }, token: null, attempts: 1 });
  expect(server.seen).toHaveLength(1);
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ manifest });
});

test("a refusal is an answer with every detail, not an exception", async () => {
  const details = [{ pointer: "/members", message: "needs at least one", code: "min-items" }];
  const server = await serve((response) =>
    json(response, { statusCode: 422, message: "refused", code: "invalid", details }, { status: 422 }),
  );
  const { writer } = dial(server.url);
  const sent = await writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toEqual({
    state: "refused",
    reason: "refused",
    status: 422,
    code: "invalid",
    message: "refused",
    details,
    attempts: 1,
  });
});

// A reply that never comes, in each way it can fail to come: only `repeat` may be sent again.
test.each(writes)(
  "F2 F3 %s (%s) whose reply is lost is repeated only when repeating is harmless",
  async (name, retry) => {
    let arrived = 0;
    const server = await serveBytes((socket) =>
      socket.on("data", () => {
        arrived += 1;
        socket.resetAndDestroy();
      }),
    );
    const { writer } = dial(server.url);
    const sent = await writer.send(name, contentOf(name), calm);
    expect(sent).toMatchObject({ state: "ambiguous", reason: "connection-lost", status: null });
    if (retry === "repeat") expect(arrived).toBeGreaterThan(1);
    else expect(arrived).toBe(1);
    expect(sent.attempts).toBe(arrived);
  },
);

test.each(writes)("F11 %s (%s) that is answered 500, 502 or 504 is ambiguous", async (name, retry) => {
  for (const status of [500, 502, 503, 504, 408]) {
    const server = await serve((response) => json(response, { message: "broken" }, { status }));
    const { writer } = dial(server.url);
    const sent = await writer.send(name, contentOf(name), calm);
    expect(sent).toMatchObject({ state: "ambiguous", reason: "server-error", status });
    if (retry !== "repeat") expect(server.seen).toHaveLength(1);
  }
});

test.each(writes)("F8 %s (%s) that is told to wait was not applied, and is sent again", async (name) => {
  for (const status of [429, 503]) {
    const clock = fakeClock();
    const server = await serve((response, _, nth) =>
      nth === 1
        ? json(response, {}, { status, headers: { "retry-after": "7" } })
        : json(response, { message: "no" }, { status: 422 }),
    );
    const sent = await dial(server.url, { clock }).writer.send(name, contentOf(name), calm);
    expect(sent).toMatchObject({ state: "refused", status: 422, attempts: 2 });
    expect(clock.waits).toEqual([7_000]);
  }
});

test.each(writes)(
  "F82 %s (%s) that finds no room on the server's disk had no effect, and is not sent again",
  async (name) => {
    const body = { message: "there is no room", code: "storage-full" };
    const server = await serve((response) => json(response, body, { status: 507, headers: { "retry-after": "10" } }));
    const sent = await dial(server.url).writer.send(name, contentOf(name), calm);
    expect(sent).toMatchObject({ state: "refused", status: 507, code: "storage-full", attempts: 1 });
  },
);

test("F1 a write that reaches nobody is not sent, and says so", async () => {
  const gone = await serve(() => {});
  await gone.stop();
  let started = 0;
  const sent = await dial(gone.url).writer.send("putApp", { body: { manifest }, onSent: () => (started += 1) }, calm);
  expect(sent).toMatchObject({ state: "not-sent", reason: "unreachable" });
  expect(started).toBe(0);
});

test("F7 a write that is never answered is ambiguous after the deadline", async () => {
  const server = await serveBytes(() => {});
  const { writer } = dial(server.url, { clock: systemClock, requestTimeout: 500, connectTimeout: 60_000 });
  const sent = await writer.send("putApp", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "ambiguous", reason: "timeout", attempts: 1 });
});

test("an ambiguous write stays ambiguous when a later try is refused or fails", async () => {
  const server = await serve(async (response, _, nth) => {
    if (nth === 1) response.destroy();
    else json(response, {}, { status: 409 });
  });
  const { writer } = dial(server.url);
  const refused = await writer.send("putTeam", { body: { manifest } }, calm);
  expect(refused).toMatchObject({ state: "ambiguous", reason: "connection-lost", attempts: 2 });
  const dying = await serve(async (response) => {
    response.destroy();
    await dying.stop();
  });
  const lost = await dial(dying.url).writer.send("putTeam", { body: { manifest } }, calm);
  expect(lost).toMatchObject({ state: "ambiguous", reason: "connection-lost" });
  expect(lost.attempts).toBeGreaterThan(1);
});

test("an abort during a write is ambiguous, before it is not", async () => {
  const stop = new AbortController();
  const server = await serve(() => stop.abort(new Error("enough")));
  const { writer } = dial(server.url);
  expect(await writer.send("putTeam", { body: { manifest } }, stop)).toMatchObject({
    state: "ambiguous",
    reason: "aborted",
    attempts: 1,
  });
  expect(await writer.send("putTeam", { body: { manifest } }, stop)).toMatchObject({
    state: "not-sent",
    reason: "aborted",
    attempts: 0,
  });
});

test.each([
  ["a page", "<html></html>", "protocol"],
  ["nothing", "", "protocol"],
  ["no data", "{}", "protocol"],
  ["data without a manifest", '{"data":{"id":"t1"}}', "protocol"],
  ["null", "null", "protocol"],
])("F13 F14 a success with %s is ambiguous, and not repeated", async (_, body, reason) => {
  const server = await serve((response) => response.writeHead(200, { "content-type": "text/html" }).end(body));
  const sent = await dial(server.url).writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "ambiguous", reason, status: 200, attempts: 1 });
});

test.each(["{}", '{"data":{"id":"v1"},"more":true}'])("F14 postModelVersion takes %s for a success", async (body) => {
  const server = await serve((response) => response.writeHead(200).end(body));
  const sent = await dial(server.url).writer.send("postModelVersion", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "applied", data: {} });
});

test("F14 stageArtifactVersion needs all three of its fields", async () => {
  const whole = { id: "v", storage_root: "file:///x", artifact_id: "a" };
  const server = await serve((response, _, nth) => json(response, nth === 1 ? whole : { ...whole, artifact_id: null }));
  const { writer } = dial(server.url);
  expect(await writer.send("stageArtifactVersion", { body: { manifest } }, calm)).toMatchObject({
    state: "applied",
    data: whole,
  });
  expect(await writer.send("stageArtifactVersion", { body: { manifest } }, calm)).toMatchObject({ state: "ambiguous" });
});

test("F16 a redirect of a write is ambiguous, and not followed", async () => {
  const server = await serve((response) => response.writeHead(303, { location: "/elsewhere" }).end());
  const sent = await dial(server.url).writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "ambiguous", reason: "redirect", status: 303, attempts: 1 });
  expect(server.seen).toHaveLength(1);
});

test("F27 a reply about another resource is ambiguous", async () => {
  const other = { data: { id: "t2", manifest: { ...manifest, name: "other" } } };
  const server = await serve((response) => json(response, other));
  const sent = await dial(server.url).writer.send("putTeam", { body: { manifest } }, calm);
  expect(sent).toMatchObject({ state: "ambiguous", reason: "mismatch" });
});

const account = { type: "virtual-account", name: "ci", permissions: [] };
const issued = { data: { id: "a1", name: "ci", manifest: account }, token: "CANARY-one-time" };

test("a one-time token reaches the keeper before anything else, and is secret from then on", async () => {
  const server = await serve((response) => json(response, issued));
  const kept: string[] = [];
  const sent = await dial(server.url).writer.send(
    "putVirtualAccount",
    { body: { manifest: account }, onReply: async (bytes) => void kept.push(bytes.toString()) },
    calm,
  );
  expect(JSON.parse(kept[0] ?? "")).toEqual(issued);
  expect(sent.state === "applied" && sent.token?.open()).toBe("CANARY-one-time");
  expect(`${inspect(sent, { depth: 9 })}${JSON.stringify(sent)}`).not.toContain("CANARY");
  expect(server.seen[0]?.headers).toMatchObject({ "accept-encoding": "identity", connection: "close" });
});

test("the bytes that the keeper was given stay as they came after the reply was read", async () => {
  const kept: Buffer[] = [];
  const server = await serve((response) => json(response, issued));
  const keeping = { body: { manifest: account }, onReply: async (bytes: Buffer) => void kept.push(bytes) };
  await dial(server.url).writer.send("putVirtualAccount", keeping, calm);
  expect(JSON.parse(String(kept[0]))).toEqual(issued);
});

test("getPersonalAccessToken tells whether it made the token", async () => {
  const server = await serve((response) => json(response, { data: { id: "p" }, token: "CANARY", created: true }));
  const sent = await dial(server.url).writer.send("getPersonalAccessToken", { path: { name: "ci" } }, calm);
  expect(sent).toMatchObject({ state: "applied", created: true });
  expect(server.seen[0]).toMatchObject({ method: "GET", headers: { "cache-control": "no-store" } });
});

test("F5 of a token reply that was cut, what came is kept", async () => {
  const body = JSON.stringify(issued);
  const server = await serveBytes((socket) =>
    socket.on("data", () =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, -5)}`),
    ),
  );
  const kept: string[] = [];
  const sent = await dial(server.url).writer.send(
    "putVirtualAccount",
    { body: { manifest: account }, onReply: async (bytes) => void kept.push(bytes.toString()) },
    calm,
  );
  expect(sent).toMatchObject({ state: "ambiguous", reason: "connection-lost", status: 200 });
  expect(kept).toEqual([body.slice(0, -5)]);
});

test("F45 a token that cannot be kept is not looked at either", async () => {
  const server = await serve((response) => json(response, issued));
  const full = new Error("no space left");
  const sent = await dial(server.url).writer.send(
    "putVirtualAccount",
    { body: { manifest: account }, onReply: () => Promise.reject(full) },
    calm,
  );
  expect(sent).toMatchObject({ state: "ambiguous", reason: "not-kept", cause: full });
});

test("F4 what cannot be read back never goes over a connection that was used before", async () => {
  const ports: (number | undefined)[] = [];
  const server = await serve((response, request) => {
    ports.push(response.socket?.remotePort);
    json(response, request.path.endsWith("/teams") ? team : issued);
  });
  const { writer } = dial(server.url, { concurrency: 1 });
  await writer.send("putTeam", { body: { manifest } }, calm);
  await writer.send("putVirtualAccount", { body: { manifest: account } }, calm);
  await writer.send("putVirtualAccount", { body: { manifest: account } }, calm);
  await writer.send("putTeam", { body: { manifest } }, calm);
  expect(new Set(ports).size).toBe(3);
  expect(ports[3]).toBe(ports[0]);
});

test("F4 what is made once under its key shares the connections, and is asked for again where one breaks", async () => {
  const ports: (number | undefined)[] = [];
  const server = await serve((response, _, nth) => {
    ports.push(response.socket?.remotePort);
    if (nth === 3) response.destroy();
    else json(response, nth === 1 ? team : issued, { headers: { "idempotency-key-accepted": "true" } });
  });
  const { writer } = dial(server.url, { concurrency: 1 });
  const content = { body: { manifest: account }, idempotencyKey: "key-0123456789abcdef" };
  await writer.send("putTeam", { body: { manifest } }, calm);
  expect(await writer.send("putVirtualAccount", content, calm)).toMatchObject({ state: "applied", attempts: 1 });
  expect(await writer.send("putVirtualAccount", content, calm)).toMatchObject({ state: "applied", attempts: 2 });
  expect(ports.slice(0, 3)).toEqual(Array(3).fill(ports[0]));
  expect(ports).toHaveLength(4);
});

test("a token write is sent again with its key only to a server that said it honours keys", async () => {
  const lose = (nth: number) => nth === 2;
  const answer = (accepted: object) => (response: Parameters<typeof json>[0], _: Seen, nth: number) =>
    lose(nth) ? response.destroy() : json(response, issued, { headers: accepted });
  const content = { body: { manifest: account }, idempotencyKey: "key-0123456789abcdef" };

  const honouring = await serve(answer({ "idempotency-key-accepted": "true" }));
  const trusted = dial(honouring.url).writer;
  await trusted.send("putVirtualAccount", content, calm);
  expect(await trusted.send("putVirtualAccount", content, calm)).toMatchObject({ state: "applied", attempts: 2 });
  expect(honouring.seen.map(({ headers }) => headers["idempotency-key"])).toEqual(
    Array(3).fill(content.idempotencyKey),
  );

  const silent = await serve(answer({}));
  const unknown = dial(silent.url).writer;
  await unknown.send("putVirtualAccount", content, calm);
  expect(await unknown.send("putVirtualAccount", content, calm)).toMatchObject({ state: "ambiguous", attempts: 1 });
});

test("F69 while the first request under a key is being answered, its reply is waited for", async () => {
  const inFlight = { statusCode: 409, message: "under way", code: "idempotency-key-in-flight" };
  const content = { body: { manifest: account }, idempotencyKey: "key-0123456789abcdef" };
  const clock = fakeClock();
  const server = await serve((response, _, nth) =>
    nth === 1 ? json(response, inFlight, { status: 409, headers: { "retry-after": "1" } }) : json(response, issued),
  );
  const sent = await dial(server.url, { clock }).writer.send("putVirtualAccount", content, calm);
  expect(sent).toMatchObject({ state: "applied", attempts: 2 });
  expect(clock.waits).toEqual([1000]);
});

test("a dry run's reply too tells whether keys are honoured", async () => {
  const accepted = { headers: { "idempotency-key-accepted": "true" } };
  const server = await serve((response, _, nth) => (nth === 2 ? response.destroy() : json(response, issued, accepted)));
  const { reader, writer } = dial(server.url);
  await reader.dryRun("putVirtualAccount", { manifest: account }, calm);
  const content = { body: { manifest: account }, idempotencyKey: "key-0123456789abcdef" };
  expect(await writer.send("putVirtualAccount", content, calm)).toMatchObject({ state: "applied", attempts: 2 });
});

test("a fencing number and its scope go along", async () => {
  const server = await serve((response) => json(response, { message: "old" }, { status: 412 }));
  const sent = await dial(server.url).writer.send(
    "putTeam",
    { body: { manifest }, fence: { token: 7, scope: "s" } },
    calm,
  );
  expect(sent).toMatchObject({ state: "refused", reason: "fenced", attempts: 1 });
  expect(server.seen[0]?.headers).toMatchObject({ "x-fencing-token": "7", "x-fencing-scope": "s" });
});
