import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { run } from "../support/process.ts";
import { type ServerProcess, serveProcess } from "../support/server.ts";

const ADDRESS = "https://control.example.com";
const flags = ["--artifact-root", ADDRESS];

/** The size of the file whose memory is measured; a server that held it would grow by as much. */
const megabytes = Number(process.env.HOLDFAST_STAGED_MEGABYTES ?? 400);
const MOST_GROWTH = 200_000_000;

const manifest = (more: object = {}) => ({
  manifest: { type: "model-version", name: "ranker", ml_repo: "ranking", ...more },
});

/** A server of its own process with an ml repo, and the token of an account that may write versions there and nothing else. */
async function planted(data?: string): Promise<{ readonly server: ServerProcess; readonly token: string }> {
  const server = await serveProcess(flags, data === undefined ? {} : { data });
  await server.call("PUT", "/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "ranking" } });
  const permissions = [{ resource_type: "ml-repo", resource_fqn: "ranking", role_id: "ml-repo-editor" }];
  const account = { manifest: { type: "virtual-account", name: "ci", permissions } };
  return { server, token: (await server.call("PUT", "/api/svc/v1/virtual-accounts", account)).token };
}

/** Stages a version; the server is reached at the address at which it listens. */
async function stage({ call, url }: ServerProcess, token: string) {
  const { id, storage_root: uri } = await call("POST", "/api/ml/v1/artifact-versions/stage", manifest(), token);
  return { id, uri, root: uri.replace(ADDRESS, url) };
}

/** The files that the server lists. */
async function filesBelow(root: string): Promise<readonly { readonly path: string; readonly size: number }[]> {
  const { data } = (await (await fetch(`${root}/`)).json()) as { readonly data: never };
  return data;
}

/** Begins to send a file of so many bytes. */
function sendingTo(url: string, length: number) {
  const sending = request(url, { method: "PUT", headers: { "content-length": length } });
  sending.on("error", () => {});
  const status = once(sending, "response").then(([response]) => {
    response.resume();
    return Number(response.statusCode);
  });
  status.catch(() => {});
  return { sending, status };
}

async function written(sending: ClientRequest, chunk: Buffer): Promise<void> {
  if (!sending.write(chunk)) await once(sending, "drain");
}

test("an account that may write versions stores files from anywhere, and who may read the repo gets them", async () => {
  const { server, token } = await planted();
  const { id, uri, root } = await stage(server, token);
  const weights = randomBytes(5_000_000);
  const files = { "weights/model.bin": weights, "config.json": Buffer.from('{"a": 1}') };
  for (const [path, content] of Object.entries(files)) {
    const stored = await fetch(`${root}/${path}`, { method: "PUT", body: content });
    const digest = createHash("sha256").update(content).digest("hex");
    expect([stored.status, await stored.json()]).toMatchObject([200, { data: { path, digest: `sha256:${digest}` } }]);
  }
  const data = await filesBelow(root);
  expect(data.map(({ path, size }) => [path, size])).toEqual([
    ["config.json", 8],
    ["weights/model.bin", 5_000_000],
  ]);
  const source = { type: "platform", uri };
  const version = await server.call("PUT", "/api/ml/v1/model-versions", manifest({ source }), token);
  expect(version.data.manifest.source.uri).toBe(`${ADDRESS}/api/ml/v1/staged/${id}`);
  const plain = version.data.manifest.source.uri.replace(ADDRESS, server.url);
  const read = await fetch(`${plain}/weights/model.bin`, { headers: { authorization: `Bearer ${token}` } });
  expect(Buffer.from(await read.arrayBuffer()).equals(weights)).toBe(true);
  expect((await fetch(`${plain}/weights/model.bin`)).status).toBe(401);
  server.process.kill("SIGTERM");
  const { stderr } = await server.process.ended;
  expect(stderr).toContain("putStagedFile");
  expect(stderr).toContain(`files       of staged versions go through ${ADDRESS}\n`);
  expect(stderr).not.toContain(uri.split(".").at(-1));
});

test("F69 a server that is killed while a file arrives has nothing of it, and takes it again under the same address", async () => {
  const first = await planted(join(await temporaryFolder(), "control-plane"));
  const { data } = first.server;
  const { id, uri, root } = await stage(first.server, first.token);
  expect((await fetch(`${root}/kept`, { method: "PUT", body: "kept" })).status).toBe(200);
  const { sending, status } = sendingTo(`${root}/weights`, 1_000_000);
  sending.write(Buffer.alloc(500_000));
  const inFolder = () => readdirSync(join(data, "artifacts", id)).length;
  await eventually("a part of the file", () => (inFolder() === 2 ? true : undefined));
  first.server.process.kill("SIGKILL");
  await first.server.process.ended;
  await expect(status).rejects.toThrow();

  const again = await serveProcess(flags, { data });
  const moved = uri.replace(ADDRESS, again.url);
  const paths = async () => (await filesBelow(moved)).map(({ path }) => path);
  expect(await paths()).toEqual(["kept"]);
  expect((await fetch(`${moved}/weights`)).status).toBe(404);
  expect(await (await fetch(`${moved}/kept`)).text()).toBe("kept");
  expect((await fetch(`${moved}/weights`, { method: "PUT", body: "whole" })).status).toBe(200);
  expect(await paths()).toEqual(["kept", "weights"]);
  const source = { type: "platform", uri };
  await again.call("PUT", "/api/ml/v1/model-versions", manifest({ source }), first.token);
  expect(again.effects().filter(({ operation }) => operation === "E21")).toHaveLength(2);
});

test(`a file of ${megabytes} MB passes through the server in both directions in bounded memory`, {
  timeout: 420_000 + megabytes * 1000,
}, async () => {
  const { server, token } = await planted();
  const { root } = await stage(server, token);
  const resident = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
  };
  const before = await resident();
  const chunk = randomBytes(1_000_000);
  const hash = createHash("sha256");
  const { sending, status } = sendingTo(`${root}/weights`, megabytes * chunk.length);
  let most = 0;
  for (let sent = 0; sent < megabytes; sent += 1) {
    await written(sending, chunk);
    hash.update(chunk);
    if (sent % 50 === 0) most = Math.max(most, await resident());
  }
  sending.end();
  expect(await status).toBe(200);
  const digest = hash.digest("hex");
  const read = await fetch(`${root}/weights`);
  const arrived = createHash("sha256");
  let size = 0;
  for await (const piece of read.body ?? []) {
    arrived.update(piece);
    size += piece.length;
    if (size % 50_000_000 < piece.length) most = Math.max(most, await resident());
  }
  expect([size, arrived.digest("hex")]).toEqual([megabytes * chunk.length, digest]);
  expect(most - before).toBeLessThan(MOST_GROWTH);
});

test.each([
  [["--artifact-root", ADDRESS, "--documented-only"], "extension E21"],
  [["--artifact-root", ADDRESS, "--database", "postgres://user@127.0.0.1:1/none"], "--artifact-folder"],
  [["--artifact-root", ADDRESS, "--artifact-folder", "absent"], "absent"],
  [["--artifact-folder", "absent"], "--artifact-root"],
  [["--artifact-root", "ftp://example.com"], "address of this server"],
])("serve %j does not start, and says why", async (args, why) => {
  const cwd = await temporaryFolder();
  const ended = await run(["serve", "--port", "0", ...args], { cwd });
  expect([ended.code, ended.stderr]).toEqual([3, expect.stringContaining(why)]);
});
