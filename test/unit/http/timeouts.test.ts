import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer, listen, type ServerTimeouts } from "../../../src/http/server.ts";
import { createLog } from "../../../src/log/log.ts";
import { machine } from "../../support/machine.ts";

const quick: ServerTimeouts = { headers: 150, request: 300, silence: 900, idle: 150 };
/** For requests that have to be in time on a busy machine. */
const patient = { headers: 60_000, request: 60_000 };

/** A server with short timeouts. */
async function started(
  more: Partial<ServerTimeouts> = {},
  takesFiles = false,
): Promise<{
  readonly url: string;
  readonly dial: () => Promise<Socket>;
  readonly arrived: readonly Socket[];
}> {
  const log = createLog({ level: "silent" });
  const app = createHttpServer({
    ...machine,
    log,
    readiness: async () => ({ is: "ready" }),
    explain: () => null,
    timeouts: { ...quick, ...more },
    takesFiles,
  });
  app.addContentTypeParser("application/octet-stream", (_, body, done) => done(null, body));
  app.put("/file", { config: { takesFile: true } }, async ({ body }) => readText(body as Readable));
  app.put("/echo", async ({ body }) => ({ body }));
  app.get("/large", async () => "x".repeat(64 * 1024 * 1024));
  onTestFinished(() => app.close());
  const arrived: Socket[] = [];
  app.server.on("connection", (socket) => arrived.push(socket));
  const url = await listen(app, "127.0.0.1", 0);
  const dial = async () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  return { url, dial, arrived };
}

const silent: readonly (readonly [what: string, bytes: string])[] = [
  ["sends nothing", ""],
  ["never ends its headers", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: "],
  [
    "never ends its body",
    'PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"',
  ],
  [
    "never ends its chunks",
    "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
  ],
];

test.each([false, true].flatMap((takesFiles) => silent.map(([what, bytes]) => [what, takesFiles, bytes] as const)))(
  "S25 B29 a client that %s is let go, by a server that takes files: %s",
  async (_, takesFiles, bytes) => {
    const { url, dial } = await started({}, takesFiles);
    const socket = await dial();
    socket.write(bytes);
    const answer = await readText(socket);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({ statusCode: 408 });
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200);
  },
);

test("a client that is refused before its body has come is let go too, and one that sends a file has any time", async () => {
  const { dial } = await started({ silence: 60_000 }, true);
  const sending = await dial();
  sending.write(
    "PUT /file HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\nab",
  );
  for (const path of ["echo", "absent"]) {
    const late = await dial();
    late.write(`PUT /${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"`);
    expect(await readText(late)).toMatch(path === "echo" ? /^HTTP\/1.1 408 / : /^HTTP\/1.1 404 /);
  }
  sending.write("cd");
  expect(await readText(sending)).toMatch(/^HTTP\/1.1 200 .*abcd$/s);
});

test("S25 a client that sends its headers too slowly is disconnected", async () => {
  const { dial } = await started();
  const socket = await dial();
  const answer = readText(socket);
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n");
  const trickle = setInterval(() => socket.write("X-A: 1\r\n"), 20);
  expect(await answer).toMatch(/^HTTP\/1.1 408 /);
  clearInterval(trickle);
});

test("S25 a client that does not read its reply is disconnected", async () => {
  const { dial, arrived } = await started(patient);
  const socket = await dial();
  socket.pause();
  socket.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(() => arrived.map(({ destroyed }) => destroyed), { interval: 20, timeout: 60_000 }).toEqual([true]);
  expect(socket.bytesRead).toBeLessThan(64 * 1024 * 1024);
});

test("a connection that is idle after a reply is closed", async () => {
  const { dial } = await started(patient);
  const socket = await dial();
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await readText(socket)).toMatch(/^HTTP\/1.1 200 /);
});
