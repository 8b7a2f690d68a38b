import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { get as getSecurely } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer, type HttpOptions, listen } from "../../../src/http/server.ts";
import { readTls, renewTls } from "../../../src/http/tls.ts";
import { createLog } from "../../../src/log/log.ts";
import { machine } from "../../support/machine.ts";
import { type Certificate, createAuthority } from "../client/certificate.ts";

function create(options: Partial<HttpOptions> = {}) {
  const app = createHttpServer({
    ...machine,
    log: createLog({ level: "silent" }),
    readiness: async () => ({ is: "ready" }),
    explain: () => null,
    ...options,
  });
  onTestFinished(() => app.close());
  return app;
}

test("a draining server is not ready, still answers, and closes connections after their next reply", async () => {
  const draining = new AbortController();
  const app = create({ draining: draining.signal });
  app.get("/look", async () => ({}));
  const url = await listen(app, "127.0.0.1", 0);
  const before = await fetch(`${url}/look`);
  expect(before.headers.get("connection")).toBe("keep-alive");
  draining.abort();
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const during = await fetch(`${url}/look`);
  expect([during.status, during.headers.get("connection")]).toEqual([200, "close"]);
});

test("closing answers requests that have arrived, also on existing connections", async () => {
  const app = create();
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  app.get("/hold", async () => {
    arrived.resolve();
    await held.promise;
    return { held: true };
  });
  const url = await listen(app, "127.0.0.1", 0);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const [first] = await once(get(`${url}/healthz`, { agent }), "response");
  await readText(first);
  const asked = get(`${url}/hold`, { agent });
  await arrived.promise;
  const closed = app.close();
  await expect.poll(() => app.server.listening, { interval: 1 }).toBe(false);
  held.resolve();
  const [reply] = await once(asked, "response");
  expect([reply.statusCode, reply.headers.connection, await readText(reply)]).toEqual([200, "close", '{"held":true}']);
  await closed;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

async function filesOf(certificate: Certificate) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const write = async ({ cert, key }: Certificate) => {
    await writeFile(files.certificate, cert);
    await writeFile(files.key, key);
  };
  await write(certificate);
  return { files, write };
}

test("with certificate and key it serves TLS, and reloads them without an interruption", async () => {
  const authority = createAuthority();
  const [first, second] = [authority.issue("first.example.com"), authority.issue("second.example.com")];
  const { files, write } = await filesOf(first);
  const app = create({ tls: await readTls(files) });
  const url = await listen(app, "127.0.0.1", 0);
  expect(url).toMatch(/^https:\/\/127.0.0.1:\d+$/);
  const look = async () => {
    const [reply] = await once(getSecurely(`${url}/healthz`, { ca: authority.cert, agent: false }), "response");
    const { CN } = (reply.socket as TLSSocket).getPeerCertificate().subject;
    return [reply.statusCode, CN, await readText(reply)];
  };
  expect(await look()).toEqual([200, "first.example.com", '{"status":"ok"}']);
  await write(second);
  await renewTls(app.server, files);
  expect(await look()).toEqual([200, "second.example.com", '{"status":"ok"}']);
  // Half of a pair is no reason to stop.
  await writeFile(files.key, first.key);
  await expect(renewTls(app.server, files)).rejects.toThrow("not a certificate and its private key");
  expect(await look()).toEqual([200, "second.example.com", '{"status":"ok"}']);
});

test("files that are not a certificate and its key are refused, by name and without their content", async () => {
  const authority = createAuthority();
  const [one, other] = [authority.issue("one.example.com"), authority.issue("other.example.com")];
  const { files } = await filesOf({ cert: one.cert, key: other.key });
  await expect(readTls(files)).rejects.toThrow(`${files.certificate} and ${files.key} are not a certificate`);
  await expect(readTls({ ...files, key: "/absent" })).rejects.toThrow("/absent cannot be read");
  await writeFile(files.key, "CANARY-no-key");
  await expect(readTls(files)).rejects.not.toThrow("CANARY");
});
