import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect, inject, test, vi } from "vitest";
import { createLog } from "../../src/log/log.ts";
import type { ControlPlaneOptions } from "../../src/server/control-plane.ts";
import { addUser, type Caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { mountSmallDisk } from "../support/full-disk.ts";
import { machine } from "../support/machine.ts";
import { servedFiles, TOLD_ADDRESS } from "../support/served-files.ts";
import { statement } from "../support/test-database.ts";

const model = (more: object = {}) => ({
  manifest: { type: "model-version", name: "ranker", ml_repo: "support", ...more },
});
const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** A control plane whose files go through it, with an editor of a repo, a viewer of it, and somebody else. */
async function planted(options: Omit<Partial<ControlPlaneOptions>, "seed"> = {}) {
  const served = { ...(await servedFiles()), ...options };
  const plane = await startControlPlane(served);
  const collaborators = [
    { subject: "user:dev@example.com", role_id: "ml-repo-editor" },
    { subject: "user:ann@example.com", role_id: "ml-repo-viewer" },
  ];
  const repo = (more: object = {}) => ({ manifest: { type: "ml-repo", name: "support", collaborators, ...more } });
  await plane.admin.put("/api/svc/v1/ml-repos", repo());
  const editor = await addUser(plane, "dev@example.com");
  await addUser(plane, "ann@example.com");
  await addUser(plane, "eve@example.com");
  const artifacts = served.artifactFolder ?? join(plane.data, "artifacts");
  return {
    ...plane,
    editor,
    repo,
    artifacts,
    stage: (caller: Caller = editor, more: object = {}) => staged(plane.url, caller, more),
  };
}

/** Stages a version, and calls what is below its storage root. */
async function staged(url: string, caller: Caller, more: object) {
  const { body } = await caller.post("/api/ml/v1/artifact-versions/stage", model(more));
  // The server is reached under another address here.
  const root: string = body.storage_root.replace(TOLD_ADDRESS, url);
  return { id: body.id as string, uri: body.storage_root as string, root, ...below(root) };
}

function below(root: string, headers: Readonly<Record<string, string>> = {}) {
  const send = async (
    method: string,
    path: string,
    content?: string | Buffer,
    more: Readonly<Record<string, string>> = {},
  ) => {
    const reply = await fetch(`${root}${path}`, {
      method,
      headers: { ...headers, ...more },
      ...(content !== undefined && { body: content }),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    const isJson = reply.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: reply.status,
      headers: reply.headers,
      bytes,
      body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null,
    };
  };
  return {
    put: (path: string, content: string | Buffer, more = {}) => send("PUT", `/${path}`, content, more),
    get: (path: string, more = {}) => send("GET", `/${path}`, undefined, more),
    head: (path: string) => send("HEAD", `/${path}`),
    list: async (query = "") => (await send("GET", `/${query}`)).body,
  };
}

const register = (caller: Caller, uri: string, more: object = {}) =>
  caller.put("/api/ml/v1/model-versions", model({ source: { type: "platform", uri }, ...more }));

test("an editor stores files under the storage root, reads and lists them, and registers the version", async () => {
  const { url, editor, stage, artifacts, data } = await planted();
  const { id, uri, put, get, head, list } = await stage();
  expect(uri).toMatch(new RegExp(`^${TOLD_ADDRESS}/api/ml/v1/staged/${id}\\.\\d+\\.[\\w-]{43}$`));
  expect((await register(editor, uri)).body).toMatchObject({ statusCode: 422, details: [{ code: "empty-stage" }] });
  const weights = randomBytes(9_000_000);
  const stored = await put("weights/model%20a%25b.bin", weights, { "content-type": "application/json" });
  const digest = sha256(weights);
  expect([stored.status, stored.body]).toEqual([
    200,
    { data: { path: "weights/model a%b.bin", size: weights.length, digest: `sha256:${digest}` } },
  ]);
  expect(stored.headers.get("etag")).toBe(`"sha256:${digest}"`);
  expect(stored.headers.get("repr-digest")).toBe(`sha-256=:${Buffer.from(digest, "hex").toString("base64")}:`);
  expect((await put("empty", "")).status).toBe(200);
  expect((await put("config.json", "{}")).status).toBe(200);
  const read = await get("weights/model%20a%25b.bin");
  expect([read.status, sha256(read.bytes), read.headers.get("content-disposition")]).toEqual([
    200,
    digest,
    "attachment",
  ]);
  expect((await get("empty")).bytes).toHaveLength(0);
  const looked = await head("config.json");
  expect([looked.status, looked.headers.get("content-length"), looked.bytes.length]).toEqual([200, "2", 0]);
  const { data: rows, pagination } = await list();
  expect(rows.map(({ path }: { path: string }) => path)).toEqual(["config.json", "empty", "weights/model a%b.bin"]);
  expect(pagination).toEqual({ total: 3, offset: 0, limit: 100 });
  expect((await list("?limit=1&offset=1")).data).toEqual([rows[1]]);
  for (const absent of ["weights", "absent", "CONFIG.json"]) expect((await get(absent)).status).toBe(404);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain("\nholdfast_staged_files_bytes 9000002\n");
  const inFolder = await readdir(join(artifacts, id));
  expect(inFolder).toHaveLength(3);
  for (const name of inFolder) expect((await stat(join(artifacts, id, name))).mode & 0o777).toBe(0o600);

  const version = (await register(editor, uri, { metadata: { a: 1 } })).body.data;
  expect([version.id, version.manifest.source.uri]).toEqual([id, `${TOLD_ADDRESS}/api/ml/v1/staged/${id}`]);
  // As a reply says it, and as the stage was answered: both are the same version.
  expect((await register(editor, version.manifest.source.uri, { metadata: { a: 1 } })).body.data.id).toBe(id);
  expect((await register(editor, uri, { metadata: { a: 1 } })).body.data.id).toBe(id);
  expect((await put("late", "x")).body).toMatchObject({ statusCode: 409, code: "stage-registered" });
  expect((await get("config.json")).bytes.toString()).toBe("{}");
  expect((await effects(data)).filter((effect) => effect.includes(" E21 "))).toEqual(
    ["weights/model a%b.bin", "empty", "config.json"].map((path) => `user:dev@example.com E21 stage/${id}/${path}`),
  );
});

test("a file is replaced as a whole, the same again changes nothing, and what was replaced is deleted", async () => {
  const { stage, artifacts, data } = await planted();
  const { id, put, get } = await stage();
  await put("a", "one");
  await put("a", "two");
  const before = await effects(data);
  expect((await put("a", "two")).body.data.digest).toBe(`sha256:${sha256("two")}`);
  expect(await effects(data)).toEqual(before);
  expect((await get("a")).bytes.toString()).toBe("two");
  const [name = "", ...others] = await readdir(join(artifacts, id));
  expect([others, await readFile(join(artifacts, id, name), "utf8")]).toEqual([[], "two"]);
});

test("two uploads of one path at once leave one of them, whole", async () => {
  const { stage, artifacts } = await planted();
  const { id, put, get, list } = await stage();
  const contents = Array.from({ length: 6 }, () => randomBytes(500_000));
  const replies = await Promise.all(contents.map((content) => put("weights", content)));
  expect(replies.map(({ status }) => status)).toEqual(contents.map(() => 200));
  const { bytes } = await get("weights");
  expect(contents.map(sha256)).toContain(sha256(bytes));
  expect((await list()).data).toEqual([{ path: "weights", size: 500_000, digest: `sha256:${sha256(bytes)}` }]);
  expect(await readdir(join(artifacts, id))).toHaveLength(1);
  const many = await Promise.all(Array.from({ length: 12 }, (_, at) => put(`part-${at}`, String(at))));
  expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
  expect((await list()).pagination.total).toBe(13);
});

test("a file that is not what was stored is 500, and the log says so", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "error", stream: { write: (line: string) => void lines.push(line) } });
  const { stage, artifacts } = await planted({ log });
  const { id, put, get, head } = await stage();
  await put("a", "0123456789");
  const [name = ""] = await readdir(join(artifacts, id));
  const path = join(artifacts, id, name);
  const spoilt = [() => writeFile(path, "shorter"), () => rm(path), () => symlink("/etc/hostname", path)];
  for (const spoil of spoilt) {
    await spoil();
    expect((await get("a")).body).toMatchObject({ statusCode: 500, code: "internal" });
  }
  expect(lines.filter((line) => line.includes("staged-file-missing"))).toHaveLength(3);
  expect((await head("a")).status).toBe(200);
});

test("a part of a file is read by its range", async () => {
  const { stage } = await planted();
  const { put, get } = await stage();
  const { headers } = await put("a", "0123456789");
  const part = async (range: string, more = {}) => {
    const reply = await get("a", { range, ...more });
    return [reply.status, reply.bytes.toString(), reply.headers.get("content-range")];
  };
  expect(await part("bytes=3-5")).toEqual([206, "345", "bytes 3-5/10"]);
  expect(await part("bytes=7-")).toEqual([206, "789", "bytes 7-9/10"]);
  expect(await part("bytes=-2")).toEqual([206, "89", "bytes 8-9/10"]);
  expect(await part("bytes=5-99")).toEqual([206, "56789", "bytes 5-9/10"]);
  expect(await part("bytes=3-5", { "if-range": headers.get("etag") })).toEqual([206, "345", "bytes 3-5/10"]);
  expect(await part("bytes=3-5", { "if-range": '"other"' })).toEqual([200, "0123456789", null]);
  for (const ignored of ["bytes=1-2,4-5", "lines=1-2", "bytes=-"]) expect((await part(ignored))[0]).toBe(200);
  const beyond = await get("a", { range: "bytes=10-" });
  expect([beyond.status, beyond.body.code, beyond.headers.get("content-range")]).toEqual([
    416,
    "range-not-satisfiable",
    "bytes */10",
  ]);
});

test("a caller with a token reads what its roles let it read, for as long as there is a version, and stores nothing", async () => {
  let ahead = 0;
  const clock = movedClock(() => ahead);
  const { url, editor, stage } = await planted({ clock });
  const { id, uri, put, get } = await stage();
  await put("config.json", "{}");
  await register(editor, uri);
  ahead = 400 * 24 * 3_600_000;
  expect((await get("config.json")).status).toBe(403);
  const plain = `${url}/api/ml/v1/staged/${id}`;
  const as = (name: string) => below(plain, { authorization: `Bearer token-of-${name}-at-example.com` });
  expect((await as("ann").get("config.json")).bytes.toString()).toBe("{}");
  expect((await as("ann").list()).data).toHaveLength(1);
  const hidden = await as("eve").get("config.json");
  expect([hidden.status, hidden.body.code]).toEqual([404, "not-found"]);
  expect((await as("dev").put("more", "x")).body).toMatchObject({ statusCode: 403, code: "forbidden" });
  const unknown = below(`${url}/api/ml/v1/staged/absent`, { authorization: "Bearer token-of-ann-at-example.com" });
  expect((await unknown.get("config.json")).body).toEqual(hidden.body);
  const nobody = await below(plain).get("config.json");
  expect([nobody.status, nobody.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="holdfast"']);
});

test("an address that is forged, expired, of another stage or another server's opens nothing, and all are answered alike", async () => {
  let ahead = 0;
  const { url, stage } = await planted({ clock: movedClock(() => ahead), stageHours: 1 });
  const other = await stage();
  const { id, root, put, get, list } = await stage();
  await put("a", "x");
  const [, seconds = "", signature = ""] = root.split("/").at(-1)?.split(".") ?? [];
  const at = (segment: string) => below(`${url}/api/ml/v1/staged/${segment}`);
  const [first = ""] = signature;
  const forged = [
    `${id}.${seconds}.${(first === "A" ? "B" : "A") + signature.slice(1)}`,
    `${id}.${Number(seconds) + 1}.${signature}`,
    `${other.id}.${seconds}.${signature}`,
    `${id}.${seconds}.`,
    `${id}.${seconds}.${signature}A`,
    `${id}.${seconds}.${signature.slice(0, -1)}`,
    `${id}..${signature}`,
    ".",
    "..",
    `${id}.${seconds}.${signature}.${signature}`,
    `%00.${seconds}.${signature}`,
  ];
  const elsewhere = await planted();
  const foreign = (await elsewhere.stage()).root.split("/").at(-1) ?? "";
  const refusals = await Promise.all(
    [...forged.filter((segment) => !/^\.+$/.test(segment)), foreign].flatMap((segment) => [
      at(segment).get("a"),
      at(segment).put("b", "x"),
    ]),
  );
  ahead = 3_600_001;
  refusals.push(await get("a"), await put("b", "x"));
  expect(new Set(refusals.map(({ status, body }) => JSON.stringify([status, body])))).toEqual(
    new Set([JSON.stringify([403, { statusCode: 403, message: refusals[0]?.body.message, code: "forbidden" }])]),
  );
  ahead = 0;
  expect((await list()).data).toHaveLength(1);
});

test("an address ends with the token that staged it, with its role, and with its user", async () => {
  const { url, admin, data, editor, stage, repo } = await planted();
  const tokens = "/api/svc/v1/personal-access-tokens";
  const personal = (await editor.get(`${tokens}/ci`)).body;
  const callAs = (token: string) => ({
    ...editor,
    post: async (path: string, body: unknown) => {
      const reply = await fetch(url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { body: await reply.json() } as never;
    },
  });
  const permissions = [{ resource_type: "ml-repo", resource_fqn: "support", role_id: "ml-repo-editor" }];
  const account = (
    await admin.put("/api/svc/v1/virtual-accounts", {
      manifest: { type: "virtual-account", name: "ci", permissions },
    })
  ).body;
  const byPersonal = await stage(callAs(personal.token));
  const byAccount = await stage(callAs(account.token));
  const byUser = await stage();
  for (const one of [byPersonal, byAccount, byUser]) expect((await one.put("a", "x")).status).toBe(200);
  await editor.post(tokens, { revoke: personal.data.id });
  expect([(await byPersonal.put("b", "x")).status, (await byUser.put("b", "x")).status]).toEqual([403, 200]);
  await admin.post("/api/svc/v1/subjects/disable", { subject: "virtualaccount:ci" });
  expect([(await byAccount.get("a")).status, (await byAccount.put("b", "x")).status]).toEqual([403, 403]);
  await admin.put("/api/svc/v1/ml-repos", repo({ collaborators: [] }));
  expect([(await byUser.get("a")).status, (await byUser.put("c", "x")).status]).toEqual([403, 403]);
  await admin.put("/api/svc/v1/ml-repos", repo());
  expect((await byUser.put("c", "x")).status).toBe(200);
  await statement(data, "DELETE FROM tokens WHERE user_id = 'dev@example.com'");
  await vi.waitFor(async () => expect((await byUser.put("d", "x")).status).toBe(403), { timeout: 20_000 });
});

test("a right that is lost while a file arrives is lost for the file too", async () => {
  const { admin, stage, repo, artifacts } = await planted();
  const { id, root, list } = await stage();
  const upload = await begun(`${root}/weights`, 1000);
  await vi.waitFor(async () => expect(await readdir(join(artifacts, id))).toHaveLength(1), { timeout: 20_000 });
  await admin.put("/api/svc/v1/ml-repos", repo({ collaborators: [] }));
  expect(await upload.finish()).toBe(403);
  await admin.put("/api/svc/v1/ml-repos", repo());
  expect([(await list()).data, await readdir(join(artifacts, id))]).toEqual([[], []]);
});

test("so is the stage that is registered or fails meanwhile", async () => {
  const { editor, stage, artifacts } = await planted();
  const ends = {
    registered: (uri: string) => register(editor, uri),
    failed: (_: string, id: string) => editor.post("/api/ml/v1/artifact-versions/mark-stage-failure", { id }),
  };
  for (const [name, end] of Object.entries(ends)) {
    const { id, uri, root, put, get } = await stage();
    await put("a", "x");
    const upload = await begun(`${root}/weights`, 1000);
    await vi.waitFor(async () => expect(await readdir(join(artifacts, id))).toHaveLength(2), { timeout: 20_000 });
    expect((await end(uri, id)).status).toBe(200);
    expect([name, await upload.finish()]).toEqual([name, 409]);
    expect((await put("b", "x")).body.code).toBe(`stage-${name}`);
    expect((await get("a")).status).toBe(name === "failed" ? 404 : 200);
  }
});

test("a file whose client goes in the middle is never seen, and nothing of it stays", async () => {
  const { stage, artifacts } = await planted();
  const { id, root, list, put } = await stage();
  const upload = await begun(`${root}/weights`, 1_000_000);
  await vi.waitFor(async () => expect(await readdir(join(artifacts, id))).toHaveLength(1), { timeout: 20_000 });
  expect((await list()).data).toEqual([]);
  upload.breakOff();
  await vi.waitFor(async () => expect(await readdir(join(artifacts, id))).toEqual([]), { timeout: 20_000 });
  expect([(await list()).data, (await put("weights", "x")).status]).toEqual([[], 200]);
});

const bad: readonly (readonly [path: string, why: string])[] = [
  ["%2e%2e/x", "`..`"],
  ["a/%2E%2E/%2e%2e/x", "`..`"],
  ["a/%2e/x", "`.`"],
  ["..%2f..%2fetc%2fpasswd", "`..`"],
  ["%2Fetc/passwd", "slash"],
  ["a//b", "slash"],
  ["a/", "slash"],
  ["a%5Cb", "backslash"],
  ["a%00b", "control"],
  ["a%0Ab", "control"],
  ["a%E2%80%AEb", "invisible"],
  ["a%E2%80%8Bb", "invisible"],
  ["cafe%CC%81", "NFC"],
  ["x".repeat(256), "255 bytes"],
  [Array.from({ length: 33 }, () => "x").join("/"), "folders deep"],
  [Array.from({ length: 8 }, () => "x".repeat(200)).join("/"), "1024 bytes"],
];

test.each(bad)("the path %s is refused: %s", async (path, why) => {
  const { stage, artifacts } = await planted();
  const { id, root, list } = await stage();
  const reply = await raw(`${root}/${path}`, "PUT", "x");
  expect(reply).toMatchObject({ status: 400, body: { code: "bad-request", message: expect.stringContaining(why) } });
  expect([(await list()).data, await readdir(join(artifacts, id))]).toEqual([[], []]);
});

test("a path that cannot be decoded is refused, and one that is only strange is stored under its name", async () => {
  const { stage } = await planted();
  const { root, put, get, list } = await stage();
  expect((await raw(`${root}/%zz`, "PUT", "x")).status).toBe(400);
  expect((await raw(`${root}/%ff`, "PUT", "x")).status).toBe(400);
  const strange = ["...", "a b", "é", "%2525", "a%3Fb%23c;d=e&f", "CON", "-rf", "🤗/模型.bin", "__proto__", "a:b"];
  for (const path of strange) expect([path, (await put(path, path)).status]).toEqual([path, 200]);
  for (const path of strange) expect((await get(path)).bytes.toString()).toBe(path);
  const paths = (await list()).data.map(({ path }: { path: string }) => path);
  expect(paths.toSorted()).toEqual(strange.map(decodeURIComponent).toSorted());
});

test("paths that a file system could take for one are refused: by case, and of a file and a folder", async () => {
  const { stage } = await planted();
  const { put, list } = await stage();
  for (const path of ["Readme", "a/b", "Straße/x"]) expect((await put(path, "x")).status).toBe(200);
  for (const path of ["README", "readme/x", "a", "a/b/c", "A/c", "a/B", "straße/y"]) {
    expect([path, (await put(path, "x")).body.code]).toEqual([path, "path-taken"]);
  }
  expect((await list()).pagination.total).toBe(3);
});

test("a stage has a limit of bytes and of files, and what is beyond is refused before it is sent", async () => {
  const { stage, data, artifacts } = await planted({ stageBytes: 1000 });
  const { id, root, put, list } = await stage();
  expect((await put("a", "x".repeat(600))).status).toBe(200);
  const refused = await begun(`${root}/b`, 10_000_000_000).then((upload) => upload.early);
  expect(refused).toBe(413);
  expect((await put("b", "x".repeat(401))).body).toMatchObject({ statusCode: 413, code: "stage-too-large" });
  // A file that is replaced does not count.
  expect((await put("a", "x".repeat(1000))).status).toBe(200);
  await statement(data, "UPDATE file_stages SET files = 10000");
  expect((await put("b", "")).body).toMatchObject({ statusCode: 413, code: "stage-too-large" });
  await statement(data, "UPDATE file_stages SET files = 1");
  expect([(await list()).pagination.total, (await readdir(join(artifacts, id))).length]).toEqual([1, 1]);
});

test("a file without a length, with an encoding, as a part, or with another digest than it says is refused", async () => {
  const { stage, artifacts } = await planted();
  const { id, root, put, list } = await stage();
  expect((await raw(`${root}/a`, "PUT", "x", { "transfer-encoding": "chunked" })).body).toMatchObject({
    statusCode: 411,
    code: "length-required",
  });
  expect((await put("a", "x", { "content-encoding": "gzip" })).status).toBe(400);
  expect((await put("a", "x", { "content-range": "bytes 0-0/2" })).status).toBe(400);
  const said = (content: string) => `sha-256=:${createHash("sha256").update(content).digest("base64")}:`;
  for (const header of ["repr-digest", "content-digest"]) {
    expect((await put("a", "x", { [header]: said("y") })).body).toMatchObject({ code: "digest-mismatch" });
    expect((await put(header, "x", { [header]: `md5=:AAAA:, ${said("x")}` })).status).toBe(200);
  }
  expect([(await list()).pagination.total, (await readdir(join(artifacts, id))).length]).toEqual([2, 2]);
});

test("what cannot be stored is 503 and leaves nothing", async () => {
  const { stage, artifacts } = await planted();
  const { id, put, list } = await stage();
  const folder = join(artifacts, id);
  await rm(folder, { recursive: true });
  await writeFile(folder, "no folder");
  expect((await put("a", "x")).body).toMatchObject({ statusCode: 503, code: "storage-unavailable" });
  await rm(folder);
  expect([(await list()).data, (await put("a", "x")).status]).toEqual([[], 200]);
});

test("a file for which the disk has no room is 507 before it is sent, or when the disk is full, and nothing of it stays", async () => {
  const disk = await mountSmallDisk(2000);
  if ("reason" in disk) return;
  const { stage } = await planted({ artifactFolder: disk.folder });
  const { id, root, put, get, list } = await stage();
  expect(await begun(`${root}/a`, 1_990_000).then(({ early }) => early)).toBe(507);
  expect((await put("a", Buffer.alloc(1_000_000))).status).toBe(200);
  const upload = await begun(`${root}/b`, 500_000);
  await vi.waitFor(async () => expect(await readdir(join(disk.folder, id))).toHaveLength(2), { timeout: 20_000 });
  disk.fill();
  expect(await upload.finish()).toBe(507);
  expect((await put("b", "x")).body).toMatchObject({ statusCode: 507, code: "storage-full" });
  expect([(await list()).pagination.total, await readdir(join(disk.folder, id))]).toEqual([1, [expect.any(String)]]);
  expect((await get("a")).bytes).toHaveLength(1_000_000);
  disk.free();
  expect((await put("b", Buffer.alloc(500_000))).status).toBe(200);
});

test("files of a stage that failed, or that expired without a version, are deleted; those of a version stay", async () => {
  let ahead = 0;
  const clock = movedClock(() => ahead);
  const data = await temporaryFolder();
  const options = { clock, data, ...(await servedFiles()) };
  const first = await planted(options);
  const [kept, expired, failed] = [await first.stage(), await first.stage(), await first.stage()];
  for (const { put } of [kept, expired, failed]) await put("folder/a", "x");
  await register(first.editor, kept.uri);
  await first.editor.post("/api/ml/v1/artifact-versions/mark-stage-failure", { id: failed.id });
  await first.close();
  // As a server that was killed leaves it.
  const place = options.artifactFolder ?? join(data, "artifacts");
  await writeFile(join(place, kept.id, "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"), "half");
  ahead = 26 * 3_600_000;
  const again = await startControlPlane(options);
  await vi.waitFor(async () => expect(await readdir(place)).toEqual([kept.id]), { timeout: 60_000 });
  await vi.waitFor(async () => expect(await readdir(join(place, kept.id))).toHaveLength(1), { timeout: 60_000 });
  await vi.waitFor(
    async () => expect(await statement(data, "SELECT stage_id FROM file_stages WHERE is_swept = 0")).toEqual([]),
    { timeout: 60_000 },
  );
  expect(await statement(data, "SELECT DISTINCT stage_id FROM staged_files")).toEqual([{ stage_id: kept.id }]);
  expect((await register(again.admin, expired.uri, { name: "ranker" })).body.code).toBe("stage-failed");
  const read = await fetch(`${again.url}/api/ml/v1/staged/${kept.id}/folder/a`, {
    headers: { authorization: `Bearer ${again.adminToken.open()}` },
  });
  expect(await read.text()).toBe("x");
});

test("a signed address is in no log, metric, audit row or reply to others", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "trace", stream: { write: (line: string) => void lines.push(line) } });
  const plane = await planted({ log });
  const { admin, editor, url, stage, data } = plane;
  const { uri, root, put, get } = await stage();
  await put("a", "x");
  await get("a");
  await put("../x", "x");
  await get("absent");
  await put("A", "x");
  await register(editor, uri, { metadata: { holdfast: 1 } });
  await register(editor, uri, { version: 9 });
  await register(editor, uri, { unknown: uri === "" });
  await put("b", "x");
  await fetch(`${root}/b`, { method: "DELETE" });
  await vi.waitFor(
    async () => {
      const { body } = await admin.get("/api/svc/v1/audit?limit=1000");
      expect(JSON.stringify(body)).toContain("stage-registered");
    },
    { timeout: 20_000 },
  );
  const shown = [
    lines.join(""),
    await (await fetch(`${url}/metrics`)).text(),
    JSON.stringify(await statement(data, "SELECT * FROM audit")),
    JSON.stringify(await statement(data, "SELECT * FROM stages")),
    JSON.stringify(await statement(data, "SELECT * FROM artifact_versions")),
    (await admin.get("/api/ml/v1/model-versions")).text,
  ];
  const signature = root.split(".").at(-1) ?? "-";
  expect(signature).toHaveLength(43);
  expect(shown.map((text) => text.includes(signature))).toEqual(shown.map(() => false));
  expect(lines.join("")).toContain("putStagedFile");
  const { data: rows } = (await admin.get("/api/svc/v1/audit?limit=1000")).body;
  expect(rows).toContainEqual(
    expect.objectContaining({ operation: "putStagedFile", outcome: "refused", status: 409, code: "stage-registered" }),
  );
  expect(rows).toContainEqual(expect.objectContaining({ operation: "getStagedFile", outcome: "refused", status: 404 }));
});

test("other methods are 405, and a server of the documented operations has no such paths", async () => {
  const { stage } = await planted();
  const { root } = await stage();
  const wrong = await fetch(`${root}/a`, { method: "POST", body: "x" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD, PUT"]);
  expect((await fetch(root, { method: "PUT", body: "x" })).status).toBe(405);
  const documented = await startControlPlane({ documentedOnly: true });
  const reply = await fetch(`${documented.url}/api/ml/v1/staged/x/a`);
  expect([reply.status, await reply.json()]).toMatchObject([404, { code: "route-not-found" }]);
});

test("a root at the server's address is refused where clients could not use it", async () => {
  await expect(startControlPlane({ artifactRoot: TOLD_ADDRESS, documentedOnly: true })).rejects.toThrow(
    "extension E21",
  );
  if (inject("postgres") !== undefined) {
    await expect(startControlPlane({ artifactRoot: TOLD_ADDRESS })).rejects.toThrow("a folder that all servers share");
  }
  await expect(startControlPlane({ artifactFolder: "/tmp" })).rejects.toThrow("--artifact-folder is for");
  const absent = join(await temporaryFolder(), "absent");
  await expect(startControlPlane({ artifactRoot: TOLD_ADDRESS, artifactFolder: absent })).rejects.toThrow(
    "cannot be stored",
  );
});

/** The system's clock, ahead by so many milliseconds. */
function movedClock(ahead: () => number): ControlPlaneOptions["clock"] {
  return { ...machine.clock, now: () => machine.clock.now() + ahead() };
}

/** Begins an upload of so many bytes, and sends a part of it. */
async function begun(url: string, length: number) {
  const sending = request(url, { method: "PUT", headers: { "content-length": length } });
  sending.on("error", () => undefined);
  const answered = once(sending, "response").then(([response]) => {
    response.resume();
    return Number(response.statusCode);
  });
  answered.catch(() => undefined);
  sending.write("x".repeat(Math.min(500, length - 1)));
  return {
    early: answered,
    breakOff: () => sending.destroy(),
    finish: () => {
      sending.end("x".repeat(length - 500));
      return answered;
    },
  };
}

/** Sends a request whose path and headers no client corrects. */
async function raw(url: string, method: string, content: string, headers: Readonly<Record<string, string>> = {}) {
  const { hostname, port } = new URL(url);
  const path = url.slice(url.indexOf("/", "http://".length));
  const sending = request({
    hostname,
    port,
    path,
    method,
    headers: headers["transfer-encoding"] === undefined ? { "content-length": content.length, ...headers } : headers,
  });
  sending.end(content);
  const [response] = await once(sending, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: Number(response.statusCode), body: JSON.parse(Buffer.concat(chunks).toString()) };
}
