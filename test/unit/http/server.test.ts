import { once } from "node:events";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { conflict } from "../../../src/http/http-error.ts";
import { createHttpServer, type HttpOptions, listen } from "../../../src/http/server.ts";
import { createLog } from "../../../src/log/log.ts";
import { machine } from "../../support/machine.ts";

async function started(options: Partial<HttpOptions> = {}): Promise<string> {
  const log = createLog({ level: "silent" });
  const app = createHttpServer({
    ...machine,
    log,
    readiness: async () => ({ is: "ready" }),
    explain: () => null,
    bodyLimit: 1000,
    ...options,
  });
  app.put("/echo", async ({ body }) => ({ body }));
  app.get("/fails", async () => {
    throw new Error("CANARY-3");
  });
  app.get("/refuses", async () => {
    throw conflict("taken", "it is taken");
  });
  onTestFinished(async () => {
    await app.close();
  });
  return listen(app, "127.0.0.1", 0);
}

/** Sends bytes as they are, and answers all that comes back. */
async function raw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  const answer = readText(socket);
  socket.write(bytes);
  return answer;
}

const put = (url: string, body: string, type: string | null = "application/json") =>
  fetch(`${url}/echo`, {
    method: "PUT",
    body: Buffer.from(body),
    headers: type === null ? {} : { "content-type": type },
  });

test("/healthz shows liveness, and /readyz whether requests can be served", async () => {
  const url = await started();
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const failing = await started({ readiness: async () => Promise.reject(new Error("no")) });
  expect((await fetch(`${failing}/readyz`)).status).toBe(503);
  expect((await fetch(`${failing}/healthz`)).status).toBe(200);
});

test("a body over the limit is 413, another content type 415, invalid JSON or no body 400", async () => {
  const url = await started();
  expect((await put(url, '{"a":1}')).status).toBe(200);
  expect((await put(url, '{"a":1}', "application/json; charset=utf-8")).status).toBe(200);
  for (const [status, reply] of [
    [413, await put(url, JSON.stringify("x".repeat(1000)))],
    [415, await put(url, "a: 1", "application/yaml")],
    [415, await put(url, "{}", "text/plain")],
    [415, await put(url, "{}", null)],
    [400, await put(url, "{")],
    [400, await put(url, "")],
  ] as const) {
    expect(reply.status).toBe(status);
    expect(await reply.json()).toMatchObject({
      statusCode: status,
      message: expect.any(String),
      code: expect.any(String),
    });
  }
});

test("an HTTP error is answered with status, message and code; the reason of an internal error is only logged", async () => {
  const url = await started();
  const refused = await fetch(`${url}/refuses`);
  expect(refused.status).toBe(409);
  expect(await refused.json()).toEqual({ statusCode: 409, message: "it is taken", code: "taken" });
  const failed = await fetch(`${url}/fails`);
  expect(failed.status).toBe(500);
  expect(await failed.text()).not.toContain("CANARY-3");
});

test("an unknown route is 404 with a code of its own", async () => {
  const url = await started();
  const reply = await fetch(`${url}/absent`);
  expect(reply.status).toBe(404);
  expect(await reply.json()).toMatchObject({ code: "route-not-found" });
});

test("every reply has a request id, the caller's own where it has a form, and may be kept by nobody", async () => {
  const url = await started();
  const reply = (headers: Record<string, string>, path = "/healthz") => fetch(url + path, { headers });
  const own = await reply({});
  expect(own.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(own.headers.get("cache-control")).toBe("no-store");
  const given = await reply({ "x-request-id": "run-7:a.b_c" }, "/absent");
  expect(given.headers.get("x-request-id")).toBe("run-7:a.b_c");
  for (const forged of ["a b", "x".repeat(129), '"}', ""]) {
    expect((await reply({ "x-request-id": forged })).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test.each([
  ["a path with broken percent-encoding", "GET /ech%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
  ["a GET with a body", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 400],
  ["no HTTP", "hello\r\n\r\n", 400],
  [
    "two lengths of a body",
    "PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    400,
  ],
  ["a tracing request", "TRACE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404],
  ["huge headers", `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`, 431],
])("%s is answered with an error and no crash", async (_, bytes, status) => {
  const url = await started();
  const answer = await raw(url, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({ statusCode: status });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test.each([
  // As RFC 9112 has it: the name of another host changes nothing.
  ["GET http://evil.example.com/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", /^HTTP\/1.1 200 /],
  ["GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", /^HTTP\/1.1 400 /],
  ["CONNECT evil.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n", /^$/],
])("S25 %s leads nowhere else", async (bytes, answer) => {
  const url = await started();
  expect(await raw(url, bytes)).toMatch(answer);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});
