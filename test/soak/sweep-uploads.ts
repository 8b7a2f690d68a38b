import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type FrontMoment, startFrontProxy } from "../support/front-proxy.ts";
import { foundations } from "../support/manifests.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import { type S3Double, startS3Double } from "../support/s3-double.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { sample } from "./sweep.ts";

/** Where the files go: a folder of the control plane, through it, or a bucket. */
export type UploadPlace = "folder" | "served" | "bucket";

/** What the sweep did, and what it found wrong, in one line each. */
export type UploadSweep = { readonly points: number; readonly kills: number; readonly faults: readonly string[] };

/** Where an apply is killed: at a moment of a request, before a statement on its ledger, a change of a file or a request to the bucket. */
type KillPoint = { readonly at: FrontMoment | "statement" | "file" | "object"; readonly nth: number };

const flags = ["apply", "--yes", "--request-timeout", "2"];
type Files = { readonly [path: string]: Buffer };

const files: Files = {
  "config.json": Buffer.from("{}"),
  "weights/a.bin": randomBytes(300_000),
  "weights/b.bin": randomBytes(10),
};

// A bucket takes larger files in parts.
const large: Files = { ...files, "weights/large.bin": randomBytes(17 * 1024 * 1024) };

function filesOf(place: UploadPlace): Files {
  return place === "bucket" ? large : files;
}

/** Kills applies that upload the files of a version at points of their way; the same command again has to continue each. */
export async function sweepUploads(
  place: UploadPlace,
  { most, seed }: { readonly most: number; readonly seed: number },
): Promise<UploadSweep> {
  const all = await pointsOf(place);
  const points = sample(all, most, randomFrom(seed));
  const faults: string[] = [];
  let kills = 0;
  for (const point of points) {
    const found = await tryPoint(place, point);
    if (found === null) continue;
    kills += 1;
    faults.push(...found.map((fault) => `SEED=${seed}: ${place}, killed at ${point.at} ${point.nth}: ${fault}`));
  }
  return { points: all.length, kills, faults };
}

async function startTrial(place: UploadPlace) {
  const front = await startFrontProxy();
  const bucket = await startS3Double();
  const roots = {
    folder: [],
    served: ["--artifact-root", front.url],
    bucket: ["--artifact-root", "s3://models/staged"],
  };
  const server = await serve(roots[place]);
  front.passTo(server.url);
  const model = "type: model-version\nname: ranker\nml_repo: registry\nsource: { type: local, path: ./files }\n";
  const source = await sourceOf(foundations, { url: front.url, token: server.token });
  // What an upload stands on is there, so that every point is one of the upload.
  await source.runHere(flags);
  await source.write("ranker.yaml", model);
  for (const [path, content] of Object.entries(filesOf(place))) {
    await mkdir(join(source.folder, "files", path, ".."), { recursive: true });
    await writeFile(join(source.folder, "files", path), content);
  }
  const before = front.asked.length;
  return { front, server, source, before, bucket };
}

type Trial = Awaited<ReturnType<typeof startTrial>>;

// A run without a kill tells how many points there are.
async function pointsOf(place: UploadPlace): Promise<readonly KillPoint[]> {
  const { front, source, before, bucket } = await startTrial(place);
  const { code, stderr } = await source.run(
    flags,
    { ...bucket.env, ...killedAt({ at: "statement", nth: 0 }) },
    { once: "a second run has nothing to upload" },
  );
  if (code !== 0) throw new Error(`an apply without a kill ended with ${code}: ${stderr}`);
  const counted = (what: string): number =>
    Math.max(0, ...[...stderr.matchAll(new RegExp(`^${what} (\\d+)$`, "gm"))].map(([, count]) => Number(count)));
  const upTo = (count: number, at: KillPoint["at"]) =>
    Array.from({ length: count }, (_, index) => ({ at, nth: index + 1 }));
  const requests = front.asked.length - before;
  return [
    ...(["request", "effect", "reply"] as const).flatMap((at) => upTo(requests, at)),
    ...upTo(counted("statement"), "statement"),
    ...upTo(counted("file"), "file"),
    ...upTo(bucket.asked.length, "object"),
  ];
}

/** What is wrong after a kill and the same command again; null where the apply did not come to that point. */
async function tryPoint(place: UploadPlace, point: KillPoint): Promise<readonly string[] | null> {
  const trial = await startTrial(place);
  const ended = await kill(trial, point);
  trial.front.watch(() => false);
  trial.bucket.breaks = () => false;
  if (ended.signal !== "SIGKILL") return null;
  const { server, source, front, bucket } = trial;
  const again = await source.runHere(flags, bucket.env);
  const faults: string[] = [];
  if (again.code !== 0) faults.push(`the next run ended with ${again.code}: ${again.stdout}${again.stderr}`);
  const versions = (await server.call("GET", "/api/ml/v1/model-versions?name=ranker")).data;
  if (versions.length !== 1) faults.push(`there are ${versions.length} versions`);
  const { metadata, source: stored } = versions[0]?.manifest ?? {};
  if (metadata?.["holdfast.digest"] !== digestOf(filesOf(place))) faults.push("the version has another digest");
  const wrong = await wrongFiles(place, String(stored?.uri), { url: front.url, token: server.token, bucket });
  faults.push(...wrong);
  const effects = server.effects().map(({ operation }) => operation);
  const count = (operation: string): number => effects.filter((one) => one === operation).length;
  if (count("20") !== 1) faults.push(`it was staged ${count("20")} times`);
  if (count("15") !== 0) faults.push("a stage was marked as failed");
  const third = await source.runHere(flags, bucket.env);
  if (!/\nApplied: \d+ unchanged\n/.test(third.stdout)) faults.push(`a third run changes something: ${third.stdout}`);
  using ledger = new DatabaseSync(join(source.folder, ".holdfast/ledger.db"), { readOnly: true, timeout: 60_000 });
  const open = ledger.prepare("SELECT count(*) AS open FROM intent").get();
  if (Number(open?.open) !== 0) faults.push(`${open?.open} intents are left in the journal`);
  return faults;
}

function digestOf(content: Files): string {
  const sha256 = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");
  const lines = Object.entries(content).map(([path, bytes]) => `${sha256(bytes)}  ${path}\n`);
  return `sha256:${sha256(lines.join(""))}`;
}

async function wrongFiles(
  place: UploadPlace,
  uri: string,
  { url, token, bucket }: { readonly url: string; readonly token: string; readonly bucket: S3Double },
): Promise<readonly string[]> {
  const content = filesOf(place);
  if (place === "bucket") {
    const prefix = new URL(uri).pathname.slice(1);
    const wrong = Object.entries(content).filter(
      ([path, bytes]) => bucket.objects.get(`${prefix}/${path}`)?.body.equals(bytes) !== true,
    );
    const others = bucket.objects.size === Object.keys(content).length ? [] : ["the bucket has other objects"];
    return [...wrong.map(([path]) => `${path} has other content`), ...others];
  }
  if (place === "served") {
    const wrong: string[] = [];
    for (const [path, bytes] of Object.entries(content)) {
      const reply = await fetch(`${url}${new URL(uri).pathname}/${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (!Buffer.from(await reply.arrayBuffer()).equals(bytes)) wrong.push(`${path} has other content`);
    }
    return wrong;
  }
  const folder = new URL(uri).pathname;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  if (found.length !== Object.keys(content).length) return [`the folder has ${found}`];
  const wrong: string[] = [];
  for (const [path, bytes] of Object.entries(content)) {
    if (!(await readFile(join(folder, path))).equals(bytes)) wrong.push(`${path} has other content`);
  }
  return wrong;
}

function kill({ front, source, before, bucket }: Trial, point: KillPoint) {
  if (point.at === "statement" || point.at === "file") {
    return source.start(flags, { ...bucket.env, ...killedAt(point) }).ended;
  }
  if (point.at === "object") {
    const running = source.start(flags, bucket.env);
    bucket.breaks = (_, nth) => nth === point.nth && running.kill("SIGKILL") !== undefined;
    return running.ended;
  }
  const apply = Promise.withResolvers<Running>();
  front.watch(async (moment, nth) => {
    if (moment !== point.at || nth !== before + point.nth) return false;
    const running = await apply.promise;
    running.kill("SIGKILL");
    await running.ended;
    return true;
  });
  apply.resolve(source.start(flags, bucket.env));
  return apply.promise.then(({ ended }) => ended);
}

/** Ends the process, as a kill does, before the nth statement on a database, or change of a file; 0 counts them. */
function killedAt({ at, nth }: KillPoint): { readonly NODE_OPTIONS: string } {
  const script = `
    import { writeSync } from "node:fs";
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    import { StatementSync } from "node:sqlite";
    const counts = { statement: 0, file: 0 };
    const before = (what) => {
      counts[what] += 1;
      if (what === "${at}" && counts[what] === ${nth}) process.kill(process.pid, "SIGKILL");
      if (${nth} === 0) writeSync(2, what + " " + counts[what] + "\\n");
    };
    const watch = (object, name, what) => {
      const original = object[name];
      object[name] = function (...given) {
        before(what);
        return original.apply(this, given);
      };
    };
    for (const name of ["run", "all", "get"]) watch(StatementSync.prototype, name, "statement");
    const handle = await fs.open(process.execPath);
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    for (const name of ["appendFile", "sync"]) watch(prototype, name, "file");
    for (const name of ["rename", "rm", "mkdir"]) watch(fs, name, "file");
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
