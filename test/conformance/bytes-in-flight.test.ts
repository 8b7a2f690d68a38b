import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Secret } from "../../src/contract/secret.ts";
import { addUser, startControlPlane } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { plantWorkspace, service } from "./platform.ts";

const MIB = 1024 * 1024;
const APPS = "/api/svc/v1/apps";

/** A connection that sends what it is told, and shows what comes back. */
async function dial(url: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    received += text;
  });
  const errors: unknown[] = [];
  socket.on("error", (error) => errors.push(error));
  await once(socket, "connect");
  return {
    socket,
    errors,
    /** Waits for so many replies, and answers their statuses. */
    statuses: (count: number) =>
      eventually("the replies", () => {
        const found = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
        return found.length >= count && found;
      }),
    received: () => received,
  };
}

function head(token: Secret | string, length: number | "chunked"): string {
  const bearer = typeof token === "string" ? token : token.open();
  const size = length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const lines = [
    `PUT ${APPS} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${bearer}`,
    "Content-Type: application/json",
  ];
  return `${[...lines, size].join("\r\n")}\r\n\r\n`;
}

/** A body of that many bytes, which is refused once it is read. */
const body = (length: number) => `{"x":"${"x".repeat(length - 8)}"}`;

async function write(socket: Socket, text: string): Promise<void> {
  if (!socket.write(text)) await once(socket, "drain");
}

test("S46 a caller with too many bytes in flight is told to wait, keeps its connection, and delays no other caller", async () => {
  const plane = await startControlPlane({ bodyBytes: 16 * MIB });
  await plantWorkspace(plane.admin);
  const dev = await addUser(plane, "dev@example.com");
  const length = 6 * MIB;
  // Two bodies would be more than half of what all may have.
  const first = await dial(plane.url);
  await write(first.socket, head(plane.adminToken, length) + body(length).slice(0, 1000));
  const second = await dial(plane.url);
  await write(second.socket, head(plane.adminToken, length) + body(length).slice(0, MIB));
  expect(await second.statuses(1)).toEqual([429]);
  expect(second.received()).toMatch(/^retry-after: 1\r$/im);
  expect(second.received()).toContain('"code":"too-much-in-flight"');
  expect(second.received()).not.toMatch(/^connection: close/im);
  // What is left of the body may still be sent, and the connection goes on.
  const small = JSON.stringify({ manifest: service });
  await write(second.socket, body(length).slice(MIB));
  await write(second.socket, head("token-of-dev-at-example.com", small.length) + small);
  expect(await second.statuses(2)).toEqual([429, 422]);
  expect(second.errors).toEqual([]);
  // Others go on meanwhile, and so do reads of the same caller.
  expect((await dev.put(APPS, { manifest: service })).status).toBe(422);
  expect((await plane.admin.get(APPS)).status).toBe(200);
  await write(first.socket, body(length).slice(1000));
  expect(await first.statuses(1)).toEqual([400]);
  await eventually(
    "room for the caller",
    async () => (await plane.admin.put(APPS, { manifest: service })).status === 200,
  );
});

test("S46 when all callers together hold too many bytes, the next one is told to wait", async () => {
  const plane = await startControlPlane({ bodyBytes: 4 * MIB });
  await plantWorkspace(plane.admin);
  const of = (kib: number) => ({ manifest: service, x: "x".repeat(kib * 1024) });
  const sockets: Socket[] = [];
  for (const [slug, share] of [
    ["ada", 2],
    ["bob", 1],
    ["cyd", 0.875],
  ] as const) {
    const user = await addUser(plane, `${slug}@example.com`);
    const { socket } = await dial(plane.url);
    sockets.push(socket);
    await write(socket, head(`token-of-${slug}-at-example.com`, share * MIB));
    await eventually("the bytes", async () => (await user.put(APPS, of(1))).status === 429);
    // As long as they count for the address, others from there are told to wait.
    await eventually("the caller", async () => (await plane.admin.put(APPS, of(100))).status !== 429);
  }
  const refused = await plane.admin.put(APPS, of(200));
  expect(refused).toMatchObject({ status: 503, body: { code: "server-busy" } });
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await plane.admin.get(APPS)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await eventually("room", async () => (await plane.admin.put(APPS, of(200))).status === 400);
});

test("S46 a body whose length is not told counts as the largest", async () => {
  const plane = await startControlPlane({ bodyBytes: 16 * MIB });
  await plantWorkspace(plane.admin);
  const { socket } = await dial(plane.url);
  await write(socket, head(plane.adminToken, "chunked"));
  await eventually("the bytes", async () => (await plane.admin.put(APPS, { manifest: service })).status === 429);
  const small = JSON.stringify({ manifest: service });
  await write(socket, `${small.length.toString(16)}\r\n${small}\r\n0\r\n\r\n`);
  await eventually("room", async () => (await plane.admin.put(APPS, { manifest: service })).status === 200);
});

test("S46 bodies of unauthenticated requests are not read, and a body over the limit does not break the connection", async () => {
  const plane = await startControlPlane();
  const length = 7 * MIB;
  for (const [status, path, token, size] of [
    [401, APPS, "nobody", length],
    [404, "/absent", plane.adminToken.open(), length],
    [413, APPS, plane.adminToken.open(), 9 * MIB],
  ] as const) {
    const { socket, statuses, errors } = await dial(plane.url);
    await write(socket, head(token, size).replace(APPS, path) + "x".repeat(1000));
    expect(await statuses(1)).toEqual([status]);
    await write(socket, "x".repeat(size - 1000));
    await write(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await statuses(2)).toEqual([status, 200]);
    expect(errors).toEqual([]);
  }
});

test("S46 replies that nobody takes are bounded for each caller too", async () => {
  const plane = await startControlPlane({ replyBytes: 8 * MIB });
  await plantWorkspace(plane.admin);
  const env = Object.fromEntries(Array.from({ length: 24 }, (_, n) => [`V${n}`, "x".repeat(131_072)]));
  await plane.admin.put(APPS, { manifest: { ...service, env } });
  const get = `GET ${APPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${plane.adminToken.open()}\r\n\r\n`;
  const { socket, statuses } = await dial(plane.url);
  // Others are ready before the first one has gone.
  await write(socket, get.repeat(8));
  const dev = await addUser(plane, "dev@example.com");
  expect((await dev.get(APPS)).status).toBe(200);
  expect(new Set(await statuses(8))).toEqual(new Set([200, 429]));
  await eventually("room", async () => (await plane.admin.get(APPS)).status === 200);
});
