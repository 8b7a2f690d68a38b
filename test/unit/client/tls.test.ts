import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer } from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { createAuthority } from "./certificate.ts";
import { calm, dial, serveBytes } from "./server.ts";

const where = { path: { id: "c1" } };
const reply = JSON.stringify({ data: { id: "c1", name: "c1", manifest: {} } });
const authority = createAuthority();
const plane = authority.issue("plane.test");
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
  writeFileSync(join(folder, "ca.pem"), authority.cert);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function listen(server: net.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function serveTls(): Promise<number> {
  const server = createServer(plane, (_, response) => response.end(reply));
  onTestFinished(() => server.closeAllConnections());
  return listen(server);
}

/** A proxy that leads every tunnel and every request to this machine, and remembers what it was asked. */
async function serveProxy({ status = 200 } = {}): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createHttp((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    response.writeHead(status).end(reply);
  });
  server.on("connect", ({ url = "", headers }, socket: net.Socket) => {
    asked.push(`CONNECT ${url} ${headers["proxy-authorization"] ?? ""}`.trim());
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const through = net.connect(Number(url.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      through.pipe(socket).pipe(through);
    });
    for (const end of [socket, through]) end.on("error", () => end.destroy());
    onTestFinished(() => {
      socket.destroy();
      through.destroy();
    });
  });
  onTestFinished(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${await listen(server)}`, asked };
}

test("F21 a certificate of an unknown authority is refused at once, with the way out", async () => {
  const url = `https://127.0.0.1:${await serveTls()}`;
  const { reader } = dial(url);
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "unreachable",
    message: `the control plane at ${url} cannot be reached (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
    hint: expect.stringContaining("--ca-file"),
  });
});

test("F21 with the CA file the same certificate is taken", async () => {
  const { reader } = dial(`https://127.0.0.1:${await serveTls()}`, { caFile: join(folder, "ca.pem") });
  expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
});

test("F21 a certificate for another host is refused, CA file or not", async () => {
  const port = await serveTls();
  const { reader } = dial(`https://localhost:${port}`, { caFile: join(folder, "ca.pem") });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "unreachable",
    message: expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID"),
  });
});

test("F21 a certificate that is invalid only for new connections is logged once, and its end once", async () => {
  const unknown = createAuthority().issue("plane.test");
  const held: (() => void)[] = [];
  const server = createServer(plane, (_, response) => {
    held.push(() => response.end(reply));
    server.emit("asked");
  });
  onTestFinished(() => server.closeAllConnections());
  const events: unknown[] = [];
  const told = (fields: object) => void events.push("event" in fields && fields.event);
  const port = await listen(server);
  const { reader } = dial(`https://127.0.0.1:${port}`, {
    caFile: join(folder, "ca.pem"),
    log: { debug: () => undefined, info: told, warn: told },
  });
  const get = () => reader.get("getCluster", where, calm);
  const answered = async (call: Promise<unknown>) => {
    for (const answer of held.splice(0)) answer();
    await call;
    // Only then is its connection free for another request.
    await setImmediate();
  };
  // While one connection is in use, another request needs a new one.
  const getTwice = async () => {
    const asked = once(server, "asked");
    const first = get();
    await asked;
    const also = once(server, "asked").then(() => "asked");
    const second = get();
    const outcome = await Promise.race([second.catch(() => "refused"), also]);
    await answered(Promise.all([first, second.catch(() => undefined)]));
    return outcome;
  };
  const asked = once(server, "asked");
  const first = get();
  await asked;
  await answered(first);
  server.setSecureContext(unknown);
  expect([await getTwice(), await getTwice(), await getTwice()]).toEqual(["refused", "refused", "refused"]);
  expect(events).toEqual(["server-unreachable"]);
  server.setSecureContext(plane);
  expect(await getTwice()).toBe("asked");
  expect(events).toEqual(["server-unreachable", "server-reachable"]);
});

test("F21 a handshake that hangs ends with the connect timeout", async () => {
  const { url } = await serveBytes(() => {});
  const { reader } = dial(url.replace("http:", "https:"), { clock: systemClock, connectTimeout: 100 });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
});

test("F21 a CA file that is missing or holds no certificate is refused before anything is sent", () => {
  writeFileSync(join(folder, "empty.pem"), "nothing\n");
  for (const name of ["absent.pem", "empty.pem"]) {
    expect(() => dial("https://127.0.0.1:1", { caFile: join(folder, name) })).toThrow(
      expect.objectContaining({ code: "invalid" }),
    );
  }
});

test("F21 an environment that turns certificate checks off is refused", () => {
  expect(() => dial("https://127.0.0.1:1", { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } })).toThrow(
    expect.objectContaining({ code: "invalid" }),
  );
});

test("F22 https goes through a tunnel, and the bearer is not shown to the proxy", async () => {
  const proxy = await serveProxy();
  const port = await serveTls();
  const { reader } = dial(`https://plane.test:${port}`, {
    caFile: join(folder, "ca.pem"),
    env: { HTTPS_PROXY: proxy.url.replace("//", "//user:p%40ss@") },
  });
  expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
  const basic = Buffer.from("user:p@ss").toString("base64");
  expect(proxy.asked).toEqual([`CONNECT plane.test:${port} Basic ${basic}`]);
});

test("F22 certificates are checked through a proxy too", async () => {
  const proxy = await serveProxy();
  const { reader } = dial(`https://plane.test:${await serveTls()}`, { env: { HTTPS_PROXY: proxy.url } });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
  expect(proxy.asked).toHaveLength(1);
});

test("F22 plain http goes to the proxy whole", async () => {
  const proxy = await serveProxy();
  const { reader } = dial("http://plane.test:8080", { env: { HTTP_PROXY: proxy.url } });
  expect(await reader.get("getCluster", where, calm)).toMatchObject({ id: "c1" });
  expect(proxy.asked).toEqual(["GET http://plane.test:8080/api/svc/v1/clusters/c1"]);
});

test.each(["http", "https"])("F22 a proxy that wants a password ends the call at once (%s)", async (scheme) => {
  const proxy = await serveProxy({ status: 407 });
  const { reader, writer } = dial(`${scheme}://plane.test:8080`, {
    env: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url },
  });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({
    reason: "unreachable",
    message: `the control plane at ${scheme}://plane.test:8080 cannot be reached (the proxy answered 407)`,
  });
  expect(await writer.send("putApp", { body: { manifest: {} } }, calm)).toMatchObject({
    state: "not-sent",
    attempts: 1,
  });
  expect(proxy.asked).toHaveLength(2);
});

test("F22 a proxy that takes the tunnel and says nothing ends with the connect timeout", async () => {
  const { url } = await serveBytes(() => {});
  const { reader } = dial("https://plane.test", { clock: systemClock, connectTimeout: 150, env: { HTTPS_PROXY: url } });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
});

test("F22 a proxy that closes the tunnel is no server", async () => {
  const { url } = await serveBytes((socket) => socket.on("data", () => socket.destroy()));
  const { reader } = dial("https://plane.test", { connectTimeout: 200, env: { HTTPS_PROXY: url } });
  await expect(reader.get("getCluster", where, calm)).rejects.toMatchObject({ reason: "unreachable" });
});
