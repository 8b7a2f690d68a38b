import { once } from "node:events";
import net from "node:net";
import { pipeline, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { calm, dial, fakeClock, json, page, serve, serveBytes } from "./server.ts";

const cluster = { data: { id: "c1", name: "c1", manifest: { type: "cluster", name: "c1" } } };
const where = { path: { id: "c1" } };

async function closedPort(): Promise<string> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

function listening(): { readonly log: NonNullable<Parameters<typeof dial>[1]>["log"]; readonly lines: string[] } {
  const lines: string[] = [];
  const note = (level: string) => (_: object, message: string) => void lines.push(`${level}: ${message}`);
  return { lines, log: { debug: () => {}, info: note("info"), warn: note("warn") } };
}

/** Answers every request on a raw socket with the bytes given. */
async function serveReply(bytes: string) {
  return serveBytes((socket) => socket.on("data", () => socket.write(bytes)));
}

/** A reader that has had one proper answer, after which the server answers otherwise. */
async function afterFirstContact(respond: Parameters<typeof serve>[0]) {
  const server = await serve((response, request, nth) =>
    nth === 1 ? json(response, cluster) : respond(response, request, nth),
  );
  const { reader } = dial(server.url);
  await reader.get("getCluster", where, calm);
  return { server, reader };
}

test("F1 a server that is not there is tried again for the time of the first contact, and warned of once", async () => {
  const clock = fakeClock();
  const { log, lines } = listening();
  const url = await closedPort();
  const { reader } = dial(url, { clock, connectTimeout: 10_000, ...(log && { log }) });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    code: "error",
    reason: "unreachable",
    message: `the control plane at ${url} cannot be reached (ECONNREFUSED)`,
  });
  expect(clock.monotonic()).toBeGreaterThan(5_000);
  expect(clock.monotonic()).toBeLessThanOrEqual(10_000);
  expect(lines).toEqual(["warn: the control plane cannot be reached"]);
});

test("F1 once it answered, an outage is waited for up to a minute", async () => {
  const clock = fakeClock();
  const server = await serve((response) => json(response, cluster));
  const { log, lines } = listening();
  const { reader } = dial(server.url, { clock, ...(log && { log }) });
  await reader.get("getCluster", where, calm);
  await server.stop();
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
  expect(clock.monotonic()).toBeGreaterThan(50_000);
  const soon = clock.monotonic();
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
  expect(clock.monotonic() - soon).toBeLessThan(6_000);
  expect(lines).toEqual(["warn: the control plane cannot be reached"]);
});

test("F20 a name that nobody knows is named as what it is", async () => {
  const { reader } = dial("http://no-such-host.invalid", { connectTimeout: 100 });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "unreachable",
    message: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
  });
});

test.each([500, 502, 503, 504])("F11 a read survives a burst of %d", async (status) => {
  const server = await serve((response, _, nth) => json(response, cluster, { status: nth <= 12 ? status : 200 }));
  const { reader } = dial(server.url);
  expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
  expect(server.seen).toHaveLength(13);
});

test("F11 a read of a server that only fails ends after a minute", async () => {
  const clock = fakeClock();
  const server = await serve((response) => json(response, { message: "broken inside" }, { status: 500 }));
  const { reader } = dial(server.url, { clock });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "server-error",
    status: 500,
    message: "GET /api/svc/v1/clusters/{id}: answered 500: broken inside",
  });
  expect(clock.monotonic()).toBeLessThanOrEqual(60_000);
});

test("a gateway's page at the first contact is an error of the server as a whole, whichever read has met it", async () => {
  for (const list of ["listTeams", "listWorkspaces"] as const) {
    const clock = fakeClock();
    const server = await serve((response) => response.writeHead(502, { "content-type": "text/html" }).end("<p>Oops"));
    const { reader } = dial(server.url, { clock });
    const failure = await reader.list(list, {}, calm).catch((error: unknown) => error);
    expect(failure).not.toHaveProperty("reason");
    expect(failure).toMatchObject({
      message: `the server at ${server.url} does not look like a control plane: it answers GET /api/svc/v1/workspaces with 502 and no reason`,
    });
    expect(clock.monotonic()).toBeGreaterThan(30_000);
  }
});

test("F8 429 pauses every call to the server, not just the one", async () => {
  const clock = fakeClock();
  const server = await serve((response, _, nth) =>
    nth === 1 ? json(response, {}, { status: 429, headers: { "retry-after": "2" } }) : json(response, cluster),
  );
  const { reader } = dial(server.url, { clock });
  await reader.get("getCluster", where, calm);
  expect(clock.waits).toEqual([2_000]);
});

test("F8 a call that starts during a pause waits for its end", async () => {
  const released = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  let now = 0;
  const clock = {
    ...fakeClock(),
    monotonic: () => now,
    sleep: async (milliseconds: number) => {
      waiting.resolve();
      await released.promise;
      now += milliseconds;
    },
  };
  const server = await serve((response, _, nth) =>
    nth === 1 ? json(response, {}, { status: 429, headers: { "retry-after": "60" } }) : json(response, cluster),
  );
  const { reader } = dial(server.url, { clock });
  const first = reader.get("getCluster", where, calm);
  await waiting.promise;
  const second = reader.get("getCluster", where, calm);
  expect(server.seen).toHaveLength(1);
  released.resolve();
  await Promise.all([first, second]);
  expect(server.seen).toHaveLength(3);
});

test.each(["-5", "abc", "", "1e9"])(
  "F10 429 with Retry-After %j is retried with backoff, not in a loop",
  async (header) => {
    const clock = fakeClock();
    const server = await serve((response) => json(response, {}, { status: 429, headers: { "retry-after": header } }));
    const { reader } = dial(server.url, { clock });
    await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "throttled", status: 429 });
    expect(server.seen.length).toBeLessThan(300);
    expect(clock.monotonic()).toBeLessThanOrEqual(900_000);
  },
);

test("F9 a server that says `at once` for ever is not asked in a tight loop", async () => {
  const clock = fakeClock();
  const server = await serve((response) => json(response, {}, { status: 429, headers: { "retry-after": "0" } }));
  const { reader } = dial(server.url, { clock });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "throttled" });
  expect(server.seen.length).toBeLessThan(300);
});

test("F12 503 with Retry-After holds up what was asked, and nothing else", async () => {
  const clock = fakeClock();
  const server = await serve((response, { path }, nth) =>
    path.endsWith("/c1") && nth < 3
      ? json(response, {}, { status: 503, headers: { "retry-after": "30" } })
      : json(response, cluster),
  );
  const { reader } = dial(server.url, { clock });
  await reader.get("getCluster", where, calm);
  expect(clock.waits).toEqual([30_000, 30_000]);
});

test("F23 after a 401 the token is read again, once, and the call goes on", async () => {
  const tokens = ["old-token", "new-token"];
  const server = await serve((response, { headers }) =>
    headers.authorization === "Bearer new-token" ? json(response, cluster) : json(response, {}, { status: 401 }),
  );
  const { reader } = dial(server.url, { token: () => new Secret(tokens.shift() ?? "none-left") });
  await reader.get("getCluster", where, calm);
  await reader.get("getCluster", where, calm);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer old-token",
    "Bearer new-token",
    "Bearer new-token",
  ]);
});

test("F23 a token that stays refused is an authentication failure after two tries", async () => {
  const server = await serve((response) => json(response, { message: "no" }, { status: 401 }));
  const { reader } = dial(server.url);
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    code: "unauthorized",
    reason: "unauthorized",
  });
  expect(server.seen).toHaveLength(2);
});

test.each(["", " ", "two words", "line\nbreak", "ünicode"])(
  "a token that no header carries is refused: %j",
  (token) => {
    expect(() => dial("http://127.0.0.1:1", { token: () => new Secret(token) })).toThrow(
      expect.objectContaining({ code: "unauthorized" }),
    );
  },
);

test("F24 a 403 is told apart, and not repeated", async () => {
  const server = await serve((response) => json(response, { message: "not yours" }, { status: 403 }));
  const { reader } = dial(server.url);
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "forbidden", status: 403 });
  expect(server.seen).toHaveLength(1);
});

test.each([
  ["a page of a captive portal", { "content-type": "text/html" }, "<html>log in</html>", 200],
  ["nothing", {}, "", 200],
  ["no content", {}, "", 204],
  ["null", { "content-type": "application/json" }, "null", 200],
  ["no data", { "content-type": "application/json" }, '{"data":null}', 200],
  ["a list", { "content-type": "application/json" }, '{"data":[]}', 200],
  ["no manifest", { "content-type": "application/json" }, '{"data":{"id":"c1"}}', 200],
  ["bytes that are no text", { "content-type": "application/json" }, Buffer.from([0x7b, 0xff, 0x7d]), 200],
  ["a deep nest", { "content-type": "application/json" }, `{"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, 200],
])("F13 %s is a protocol error, never an absent resource", async (_, headers, body, status) => {
  const { reader } = await afterFirstContact((response) => response.writeHead(status, headers).end(body));
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "protocol", status });
  await expect(reader.list("listClusters", {}, calm)).rejects.toMatchObject({ reason: "protocol" });
});

test.each([
  { data: [] },
  { data: [], pagination: {} },
  { data: [], pagination: { total: -1 } },
  { data: [], pagination: { total: "many" } },
  { data: [1], pagination: { total: 1 } },
  { data: {}, pagination: { total: 1 } },
  { pagination: { total: 0 } },
])("F13 a list without its envelope is a protocol error: %j", async (body) => {
  const { reader } = await afterFirstContact((response) => json(response, body));
  await expect(reader.list("listTeams", {}, calm)).rejects.toMatchObject({ reason: "protocol" });
});

test("F15 unknown fields, and numbers written as text in the envelope, are taken", async () => {
  const row = { id: "t1", teamName: "ml", manifest: { name: "ml" }, news: true };
  const server = await serve((response) => json(response, { data: [row], pagination: { total: "1" }, more: 1 }));
  expect(await dial(server.url).reader.list("listTeams", {}, calm)).toEqual([row]);
});

test("a row that declares nothing is still a row", async () => {
  const deployment = { id: "d", manifest: { name: "api" } };
  const apps = [
    { id: "a", name: "api", deployment: null },
    { id: "b", deployment: { id: "d" } },
    { id: "c", deployment },
  ];
  const server = await serve((response, request) =>
    json(response, page(request.path.endsWith("/apps") ? apps : [{ id: "w", fqn: "c:w" }], request)),
  );
  const { reader } = dial(server.url);
  expect(await reader.list("listWorkspaces", {}, calm)).toEqual([{ id: "w", fqn: "c:w", manifest: {} }]);
  expect(await reader.list("listApps", {}, calm)).toEqual([
    apps[0],
    { id: "b", deployment: { id: "d", manifest: {} } },
    apps[2],
  ]);
});

test.each([301, 302, 303, 307, 308])("F16 S8 a %d is not followed, and the bearer stays here", async (status) => {
  const other = await serve((response) => json(response, cluster));
  const { server, reader } = await afterFirstContact((response) =>
    response.writeHead(status, { location: `${other.url}/x` }).end(),
  );
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "protocol",
    message: expect.stringContaining("redirect"),
  });
  expect(other.seen).toEqual([]);
  expect(server.seen).toHaveLength(2);
});

test("F5 a body that ends before its length is asked for again", async () => {
  const server = await serveBytes((socket, nth) =>
    socket.on("data", () => {
      const body = JSON.stringify(cluster);
      const sent = nth === 1 ? body.slice(0, 10) : body;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${sent}`);
    }),
  );
  expect(await dial(server.url).reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
});

test("F5 a cut chunk is asked for again", async () => {
  const server = await serveBytes((socket, nth) =>
    socket.on("data", () => {
      const body = JSON.stringify(cluster);
      const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
      const size = body.length.toString(16);
      socket.end(`${head}${size}\r\n${nth === 1 ? body.slice(0, 10) : `${body}\r\n0\r\n\r\n`}`);
    }),
  );
  expect(await dial(server.url).reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
});

test("F5 half a JSON that ends with the connection is asked for again, three times at most", async () => {
  let served = 0;
  const server = await serveBytes((socket) =>
    socket.on("data", () => {
      served += 1;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(cluster).slice(0, 20)}`);
    }),
  );
  await expect(dial(server.url).reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "protocol" });
  expect(served).toBe(3);
});

test("F6 a reply that drips is given up at the deadline, however many bytes still come", async () => {
  const server = await serveBytes((socket) =>
    socket.on("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
      const drip = setInterval(() => socket.write(" "), 5);
      socket.on("close", () => clearInterval(drip));
    }),
  );
  const { reader } = dial(server.url, { clock: systemClock, requestTimeout: 500, connectTimeout: 1000 });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "timeout" });
});

test("F7 a server that accepts and never answers is a timeout", async () => {
  const server = await serveBytes(() => {});
  const { reader } = dial(server.url, { clock: systemClock, requestTimeout: 500, connectTimeout: 1000 });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "timeout",
    message: "GET /api/svc/v1/clusters/{id}: no complete reply within 500 ms",
  });
});

test("F4 a connection that the server closed while idle costs a read nothing", async () => {
  const server = await serveBytes((socket) => {
    let asked = 0;
    socket.on("data", () => {
      asked += 1;
      if (asked > 1) return socket.destroy();
      const body = JSON.stringify(cluster);
      return socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
  const { reader } = dial(server.url, { concurrency: 1 });
  for (const _ of [1, 2, 3]) expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
});

test("F17 a body over the cap is cut off, announced or not", async () => {
  const megabyte = "x".repeat(1024 * 1024);
  const server = await serve((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    pipeline(Readable.from(Array(100).fill(megabyte)), response, () => {});
  });
  await expect(dial(server.url).reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "oversize" });
  await expect(dial(server.url).reader.list("listTeams", {}, calm)).rejects.toMatchObject({ reason: "oversize" });
});

test("F17 a gzip bomb is not unpacked, a gzip reply is", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const server = await serve((response, { path }) =>
    response.writeHead(200, headers).end(path.endsWith("/bomb") ? bomb : gzipSync(JSON.stringify(cluster))),
  );
  const { reader } = dial(server.url);
  expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
  await expect(reader.get("getCluster", { path: { id: "bomb" } }, calm)).rejects.toMatchObject({ reason: "oversize" });
});

test.each(["gzip, gzip", Array(1000).fill("gzip").join(", "), "br", "x"])(
  "F17 an encoding that was not requested is a protocol error: %.10s",
  async (encoding) => {
    const { reader } = await afterFirstContact((response) =>
      response.writeHead(200, { "content-encoding": encoding }).end(gzipSync(JSON.stringify(cluster))),
    );
    await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "protocol" });
  },
);

test("F17 endless headers, and bytes that are no HTTP, break the call at once and not the process", async () => {
  const endless = await serveReply(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(300_000)}\r\n\r\n`);
  await expect(dial(endless.url).reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "protocol" });
  const foreign = await serveReply("SSH-2.0-OpenSSH_9.2\r\n");
  await expect(dial(foreign.url).reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "protocol" });
});

test("a dry run whose reply is lost is repeated only where that cannot be a second write", async () => {
  const manifest = { type: "service", name: "api" };
  const server = await serve((response, _, nth) =>
    nth % 2 === 1 ? response.destroy() : json(response, { data: { id: null, manifest } }),
  );
  const { reader } = dial(server.url);
  await expect(reader.dryRun("putApp", { manifest }, calm)).rejects.toMatchObject({ reason: "connection-lost" });
  expect(server.seen).toHaveLength(1);
  await reader.dryRun("putApp", { manifest }, calm);
  expect(await reader.dryRun("putApp", { manifest }, { ...calm, isRepeatable: true })).toMatchObject({ id: null });
  expect(await reader.dryRun("putTeam", { manifest }, calm)).toMatchObject({ id: null });
});

test("F17 pages that are too large are asked for in halves, and the size is remembered", async () => {
  const rows = Array.from({ length: 30 }, (_, index) => ({ id: `t${index}`, manifest: { pad: "x".repeat(600_000) } }));
  const server = await serve((response, request) => json(response, page(rows, request)));
  const { reader } = dial(server.url);
  expect(await reader.list("listTeams", { limit: 30 }, calm)).toHaveLength(30);
  const before = server.seen.length;
  expect(await reader.list("listTeams", { limit: 30 }, calm)).toHaveLength(30);
  expect(server.seen.length - before).toBe(4);
});

test("an abort ends a read at once with its own reason, before, during and between tries", async () => {
  const reason = new Error("enough");
  const { url } = await serveBytes(() => {});
  const { reader } = dial(url);
  await expect(reader.get("getCluster", where, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const during = new AbortController();
  const server = await serve(() => during.abort(reason));
  await expect(dial(server.url).reader.get("getCluster", where, during)).rejects.toBe(reason);
  const between = new AbortController();
  const busy = await serve((response) => json(response, {}, { status: 429, headers: { "retry-after": "50" } }));
  const waiting = dial(busy.url, {
    clock: {
      ...systemClock,
      sleep: (milliseconds, options) => {
        between.abort(reason);
        return systemClock.sleep(milliseconds, options);
      },
    },
  }).reader.get("getCluster", where, between);
  await expect(waiting).rejects.toBe(reason);
});

test("the connection's own signal ends every call", async () => {
  const all = new AbortController();
  const server = await serve(() => all.abort(new Error("over")));
  const { reader, writer } = dial(server.url, { signal: all.signal });
  await expect(reader.get("getCluster", where, calm)).rejects.toThrow("over");
  expect(await writer.send("putTeam", { body: { manifest: {} } }, calm)).toMatchObject({
    state: "not-sent",
    reason: "aborted",
    attempts: 0,
  });
});

test("no value can leave its place in the path", async () => {
  const server = await serve((response) => json(response, cluster));
  const { reader } = dial(server.url);
  for (const id of ["", ".", ".."])
    await expect(reader.get("getCluster", { path: { id } }, calm)).rejects.toThrow(TypeError);
  await reader.get("getCluster", { path: { id: "../teams?x=1#y\r\nz" } }, calm);
  expect(server.seen.map(({ path }) => path)).toEqual(["/api/svc/v1/clusters/..%2Fteams%3Fx%3D1%23y%0D%0Az"]);
});

test("a missing extension route is remembered, a missing resource and a documented route are not", async () => {
  const server = await serve((response, { path }) =>
    path.includes("/clusters/")
      ? json(response, { code: "not-found", message: "no such cluster" }, { status: 404 })
      : json(response, { code: "route-not-found", message: "no" }, { status: 404 }),
  );
  const { reader, capabilities } = dial(server.url);
  // It is a control plane: otherwise a documented route that is not there would tell that it is none.
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "not-found" });
  await expect(reader.list("listTeams", {}, calm)).rejects.toMatchObject({ reason: "route-missing" });
  await expect(reader.list("listWorkspaces", {}, calm)).rejects.toMatchObject({ reason: "route-missing" });
  const asked = ["listTeams", "getCluster", "listWorkspaces", "listApps"] as const;
  expect(asked.map((name) => capabilities.support(name))).toEqual(["no", "unknown", "unknown", "unknown"]);
});

test("many calls share as many connections as were allowed", async () => {
  const open = new Set<number | undefined>();
  const server = await serve((response) => {
    open.add(response.socket?.remotePort);
    json(response, cluster);
  });
  const { reader } = dial(server.url, { concurrency: 3 });
  await Promise.all(Array.from({ length: 60 }, () => reader.get("getCluster", where, calm)));
  expect(server.seen).toHaveLength(60);
  expect(open.size).toBe(3);
});
