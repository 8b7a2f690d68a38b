import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { startFrontProxy } from "../support/front-proxy.ts";
import { mountSmallDisk } from "../support/full-disk.ts";
import { foundations } from "../support/manifests.ts";
import { startS3Double } from "../support/s3-double.ts";
import { startS3Server } from "../support/s3-server.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const manifest = (more = "", path = "./files") =>
  `type: model-version\nname: ranker\nml_repo: registry\nsource: { type: local, path: ${path} }\n${more}`;

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** A source with a model of two files, and the digest that `sha256sum` gives for them. */
async function modelSource(server: Server, more = "") {
  const source = await sourceOf({ ...foundations, "models/ranker.yaml": manifest(more) }, server);
  const weights = randomBytes(700_000);
  await fill(source, { "config.json": "{}", "weights/a b.bin": weights });
  const digest = `sha256:${sha256(`${sha256("{}")}  config.json\n${sha256(weights)}  weights/a b.bin\n`)}`;
  return { source, weights, digest };
}

async function fill({ folder }: Source, files: { readonly [path: string]: string | Buffer }, below = "models/files") {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, below, path, ".."), { recursive: true });
    await writeFile(join(folder, below, path), content);
  }
}

const versions = async ({ call }: Server) =>
  (await call("GET", "/api/ml/v1/model-versions?name=ranker")).data.toSorted(
    (a: { manifest: { version: number } }, b: { manifest: { version: number } }) =>
      a.manifest.version - b.manifest.version,
  );

const staging = (server: Server) =>
  server.effects().flatMap(({ operation }) => (/^(?:20|15)$/.test(operation) ? [operation] : []));

const stepOf = async (source: Source, env = {}) => {
  const { stdout } = await source.runHere(["plan", "-o", "json", "--show", "unchanged"], env);
  return JSON.parse(stdout).steps.find(({ identity }: { identity: string }) =>
    identity.startsWith("model-version/registry/ranker"),
  );
};

test("the files of a model version are uploaded to a folder of the control plane, and the version is registered with their digest", async () => {
  const server = await serve();
  const { source, weights, digest } = await modelSource(server, "metadata: { ndcg: 0.4 }\n");
  expect(await stepOf(source)).toMatchObject({ action: "create" });
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const [version, ...others] = await versions(server);
  expect(others).toEqual([]);
  expect(version.manifest.metadata).toEqual({ ndcg: 0.4, "holdfast.digest": digest });
  const folder = new URL(version.manifest.source.uri).pathname;
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual([
    "config.json",
    "weights",
    "weights/a b.bin",
  ]);
  expect((await readFile(join(folder, "weights/a b.bin"))).equals(weights)).toBe(true);
  expect(await stepOf(source)).toMatchObject({ action: "keep" });
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(staging(server)).toHaveLength(1);
});

test("the files go through a control plane that says so, and what is there already is not sent again", async () => {
  const front = await startFrontProxy();
  const server = await serve(["--artifact-root", front.url]);
  front.passTo(server.url);
  const { source, digest } = await modelSource(server);
  // The second file is refused once, as where the connection to it breaks for longer than is waited for.
  let isBroken = true;
  front.watch((moment, _, asked) => isBroken && moment === "request" && /^PUT .*a%20b\.bin$/.test(asked));
  const broken = await source.runHere(["apply", "--yes", "--timeout", "3"]);
  expect(broken.code).not.toBe(0);
  expect(await versions(server)).toEqual([]);
  const sent = front.asked.length;
  isBroken = false;
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const puts = front.asked.slice(sent).filter((asked) => asked.startsWith("PUT "));
  expect(puts).toEqual([expect.stringMatching(/\/weights\/a%20b\.bin$/)]);
  const [version] = await versions(server);
  expect(version.manifest.metadata["holdfast.digest"]).toBe(digest);
  expect(version.manifest.source.uri).toMatch(/\/api\/ml\/v1\/staged\/[\w-]+$/);
  expect(staging(server)).toHaveLength(1);
  expect(await stepOf(source)).toMatchObject({ action: "keep" });
});

test("another runner finds the same files by their digest, and uploads nothing", async () => {
  const server = await serve();
  const { source } = await modelSource(server);
  await source.runHere(["apply", "--yes"]);
  const state = join(await temporaryFolder(), "state");
  expect(await stepOf(source, { HOLDFAST_STATE: state })).toMatchObject({ action: "keep" });
  // Also where somebody has changed the metadata of the version by hand since.
  const [version] = await versions(server);
  const { metadata: _, ...rest } = version.manifest;
  await server.call("PUT", "/api/ml/v1/model-versions", { manifest: rest });
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect([await versions(server), staging(server)]).toEqual([[expect.anything()], [expect.anything()]]);
});

test("another description changes the version in place, and other files need another version", async () => {
  const server = await serve();
  const { source } = await modelSource(server);
  await source.runHere(["apply", "--yes"]);
  await source.write("models/ranker.yaml", manifest("description: Better\n"));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect(staging(server)).toHaveLength(1);
  await fill(source, { "config.json": "{ }" });
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const [first, second, ...others] = await versions(server);
  expect([first.manifest.description, second.manifest.version, others]).toEqual(["Better", 2, []]);
  expect(second.manifest.source.uri).not.toBe(first.manifest.source.uri);
  await source.write("models/ranker.yaml", manifest("version: 2\n"));
  await fill(source, { "config.json": "{  }" });
  expect(await stepOf(source)).toMatchObject({ action: "block", reason: "immutable" });
  expect(await source.runHere(["apply", "--yes"])).not.toMatchObject({ code: 0 });
  await source.write("models/ranker.yaml", manifest("version: 3\n"));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  expect((await versions(server)).map((one: { manifest: { version: number } }) => one.manifest.version)).toEqual([
    1, 2, 3,
  ]);
});

test("files that have changed long after they were last compared are another version", async () => {
  const server = await serve();
  const { source } = await modelSource(server);
  await source.runHere(["apply", "--yes"]);
  const old = new Date(Date.now() - 3_600_000);
  for (const file of ["files/config.json", "files/weights/a b.bin", "ranker.yaml"]) {
    await utimes(join(source.folder, "models", file), old, old);
  }
  // Once what is live is known to be as declared, it is not compared again for the manifest alone.
  for (let nth = 0; nth < 2; nth += 1) expect(await stepOf(source)).toMatchObject({ action: "keep" });
  await fill(source, { "config.json": "{ }" });
  await utimes(join(source.folder, "models/files/config.json"), old, old);
  expect(await stepOf(source)).toMatchObject({ action: "update" });
  await rm(join(source.folder, "models/files"), { recursive: true });
  expect(await stepOf(source)).toMatchObject({ action: "block", reason: "no-files" });
});

test("a file is a version too, and links within the source are followed", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "models/ranker.yaml": manifest("", "./link") }, server);
  await fill(source, { "weights.bin": "weights" }, "data");
  await symlink("../data", join(source.folder, "models/link"));
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await source.write("models/ranker.yaml", manifest("", "../data/weights.bin"));
  // The same files, under the same path.
  expect(await stepOf(source)).toMatchObject({ action: "keep" });
  const digest = `sha256:${sha256(`${sha256("weights")}  weights.bin\n`)}`;
  expect((await versions(server))[0].manifest.metadata).toEqual({ "holdfast.digest": digest });
});

const faulty: readonly (readonly [
  what: string,
  path: string,
  prepare: (source: Source) => Promise<unknown>,
  says: string,
])[] = [
  ["a path that is not there", "./absent", async () => {}, "does not exist"],
  ["a folder without files", "./files", ({ folder }) => mkdir(join(folder, "models/files")), "has no files"],
  ["an absolute path", "/etc/hostname", async () => {}, "absolute"],
  ["a path that leaves the source", "../../..", async () => {}, "is not in the source"],
  ["the source itself", "..", async () => {}, "all of the source"],
  [
    "a link that leaves the source",
    "./files",
    async (source) => {
      await fill(source, { a: "x" });
      await symlink("/etc/hostname", join(source.folder, "models/files/b"));
    },
    "b is a symbolic link that leaves the source",
  ],
  [
    "a link to a folder above it",
    "./files",
    async (source) => {
      await fill(source, { "below/a": "x" });
      await symlink("..", join(source.folder, "models/files/below/up"));
    },
    "a folder that contains it",
  ],
  [
    "a FIFO",
    "./files",
    async (source) => {
      await fill(source, { a: "x" });
      execFileSync("mkfifo", [join(source.folder, "models/files/pipe")]);
    },
    "pipe is neither a file nor a folder",
  ],
  [
    "a Git LFS pointer",
    "./files",
    (source) => fill(source, { a: "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n" }),
    "git lfs pull",
  ],
  ["a name with a control character", "./files", (source) => fill(source, { "a\u0007": "x" }), "control characters"],
];

test.each(faulty)("%s blocks the version, and nothing is staged", async (_, path, prepare, says) => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "models/ranker.yaml": manifest("", path) }, server);
  await prepare(source);
  expect(await stepOf(source)).toMatchObject({ action: "block", reason: "no-files" });
  const { code, stdout } = await source.runHere(["apply", "--yes"]);
  expect([code, stdout.replaceAll(/\s+/g, " ")]).toEqual([7, expect.stringContaining(says)]);
  expect([await versions(server), staging(server)]).toEqual([[], []]);
});

test("paths are below modelRoot where the operator names one, and a commit of a remote has no files without it", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ ...foundations, "ranker.yaml": manifest("", "ranker/1") });
  const root = await temporaryFolder();
  await mkdir(join(root, "ranker/1"), { recursive: true });
  await writeFile(join(root, "ranker/1/weights"), "weights");
  const target = { name: "prod", source: "platform", server: server.url, tokenFile: join(server.data, "admin-token") };
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const here = await sourceOf({});
  const plan = async (more: object) => {
    const { config } = await operatorOf({ sources, targets: [target], ...more });
    const { stdout } = await here.runHere(["plan", "--config", config, "--target", "prod", "-o", "json"]);
    return JSON.parse(stdout).steps.find(({ kind }: { kind: string }) => kind === "model-version");
  };
  expect(await plan({})).toMatchObject({ action: "block", reason: "no-files" });
  expect(await plan({ modelRoot: root })).toMatchObject({ action: "create" });
  const { config } = await operatorOf({ sources, targets: [target], modelRoot: root });
  expect(await here.runHere(["apply", "--config", config, "--target", "prod", "--yes"])).toMatchObject({ code: 0 });
  expect((await versions(server))[0].manifest.metadata["holdfast.digest"]).toMatch(/^sha256:[\da-f]{64}$/);
});

test("a bucket that refuses a file ends the stage, and the next run stages and stores all of it", async () => {
  const bucket = await startS3Double();
  const server = await serve(["--artifact-root", "s3://models/staged"]);
  const { source, weights, digest } = await modelSource(server);
  bucket.refuse = (asked) => (/^PUT .*\.bin$/.test(asked) ? { status: 403, code: "QuotaExceeded" } : null);
  const refused = await source.runHere(["apply", "--yes"], bucket.env);
  expect([refused.code, refused.stdout]).toEqual([7, expect.stringContaining("[upload-refused]")]);
  expect(refused.stdout).toContain("it is full");
  expect([await versions(server), staging(server)]).toEqual([[], ["20", "15"]]);
  bucket.refuse = () => null;
  expect(await source.runHere(["apply", "--yes"], bucket.env)).toMatchObject({ code: 0 });
  const [version] = await versions(server);
  expect(version.manifest.metadata["holdfast.digest"]).toBe(digest);
  const prefix = version.manifest.source.uri.replace("s3://models/", "");
  expect(bucket.objects.get(`${prefix}/weights/a b.bin`)?.body.equals(weights)).toBe(true);
  expect(staging(server)).toEqual(["20", "15", "20"]);
  // No output names the credentials.
  expect(JSON.stringify(refused)).not.toContain(bucket.env.AWS_SECRET_ACCESS_KEY);
});

test("a bucket of a server that others have written takes files whole and in parts, and no wrong key", async () => {
  const bucket = await startS3Server();
  const server = await serve(["--artifact-root", "s3://models/staged"]);
  const { source, weights } = await modelSource(server);
  const large = randomBytes(17 * 1024 * 1024);
  await fill(source, { "large.bin": large });
  const wrong = { ...bucket.env, AWS_SECRET_ACCESS_KEY: "wrong" };
  const refused = await source.runHere(["apply", "--yes"], wrong);
  expect([refused.code, refused.stdout]).toEqual([7, expect.stringContaining("[upload-refused]")]);
  expect([await versions(server), staging(server)]).toEqual([[], ["20", "15"]]);
  expect(await source.runHere(["apply", "--yes"], bucket.env)).toMatchObject({ code: 0 });
  const [version] = await versions(server);
  const prefix = version.manifest.source.uri.replace("s3://models/", "");
  expect((await bucket.content(`${prefix}/weights/a b.bin`)).equals(weights)).toBe(true);
  expect((await bucket.content(`${prefix}/large.bin`)).equals(large)).toBe(true);
});

test("a folder that is full ends the stage, and nothing is registered", async ({ skip }) => {
  const disk = await mountSmallDisk(400);
  if ("reason" in disk) return skip(disk.reason);
  const server = await serve(["--artifact-root", pathToFileURL(disk.folder).href]);
  const { source } = await modelSource(server);
  const { code, stdout } = await source.runHere(["apply", "--yes"]);
  expect([code, stdout.replaceAll(/\s+/g, " ")]).toEqual([
    7,
    expect.stringMatching(/storage \S+ is full \[upload-refused\]/),
  ]);
  expect([await versions(server), staging(server)]).toEqual([[], ["20", "15"]]);
});

test("a version that the control plane refuses is not registered, and its stage is marked as failed", async () => {
  const front = await startFrontProxy();
  const server = await serve();
  front.passTo(server.url);
  const { source } = await modelSource({ ...server, url: front.url });
  // Somebody else registers the number meanwhile.
  await source.write("models/ranker.yaml", manifest("version: 1\n"));
  front.watch(async (moment, _, asked) => {
    const isStaged = front.asked.includes("POST /api/ml/v1/artifact-versions/stage");
    if (moment !== "request" || asked !== "PUT /api/ml/v1/model-versions" || !isStaged) return false;
    front.watch(() => false);
    const other = { type: "model-version", name: "ranker", ml_repo: "registry", version: 1, run_id: "other" };
    await server.call("PUT", "/api/ml/v1/model-versions", { manifest: other });
    return false;
  });
  const { code, stdout } = await source.runHere(["apply", "--yes"]);
  expect([code, stdout]).toEqual([7, expect.stringContaining("[version-immutable]")]);
  expect(staging(server)).toEqual(["20", "15"]);
  expect((await versions(server))[0].manifest.run_id).toBe("other");
});

test("what was left of an upload whose manifest is gone ends its stage in the next run", async () => {
  const bucket = await startS3Double();
  const server = await serve(["--artifact-root", "s3://models/staged"]);
  const { source } = await modelSource(server);
  bucket.breaks = (asked) => /^PUT /.test(asked);
  await source.runHere(["apply", "--yes", "--timeout", "3"], bucket.env);
  expect(staging(server)).toEqual(["20"]);
  await source.remove("models/ranker.yaml");
  expect(await source.runHere(["apply", "--yes"], bucket.env)).toMatchObject({ code: 0 });
  expect(staging(server)).toEqual(["20", "15"]);
});

test("a file that changes after the plan was made is not registered", async () => {
  const bucket = await startS3Double();
  const server = await serve(["--artifact-root", "s3://models/staged"]);
  const { source } = await modelSource(server);
  bucket.refuse = () => {
    appendFileSync(join(source.folder, "models/files/config.json"), " ");
    return null;
  };
  const { code, stdout } = await source.runHere(["apply", "--yes"], bucket.env);
  expect([code, stdout.replaceAll(/\s+/g, " ")]).toEqual([
    7,
    expect.stringContaining("nothing was registered: config.json has changed while it was read [files-changed]"),
  ]);
  expect([await versions(server), staging(server)]).toEqual([[], ["20", "15"]]);
});
