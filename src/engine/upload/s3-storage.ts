import { createHash } from "node:crypto";
import PQueue from "p-queue";
import type { Environment } from "../../client/proxy-from-environment.ts";
import { openTransfer, type Transfer, type TransferOptions, type TransferReply } from "../../client/transfer.ts";
import type { Stop } from "../../clock/clock.ts";
import { Secret } from "../../contract/secret.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { FilesError } from "../model-files/files-error.ts";
import { type FilePart, readPart, type VersionFile } from "../model-files/read-file.ts";
import { canonicalQuery, encodeS3, type S3Credentials, signS3 } from "./s3-signature.ts";
import { StorageRefusal, type Storing, type VersionStorage } from "./storage.ts";

const CONCURRENCY = 4;
// Larger files are sent in parts, so that an upload that breaks is continued in the middle of a file.
const PART_BYTES = 16 * 1024 * 1024;
const MOST_PARTS = 10_000;
const MOST_OBJECT_BYTES = 5 * 1024 ** 4;
const MOST_SHOWN = 500;
/** The digest of an object's whole content, as it was when it was sent. */
const DIGEST_HEADER = "x-amz-meta-holdfast-sha256";

/** A prefix of a bucket, how it is reached, and the operator's credentials. */
type Bucket = {
  readonly transfer: Transfer;
  readonly host: string;
  /** The path before a key, with its slash. */
  readonly base: string;
  readonly prefix: string;
  readonly title: string;
  readonly region: string;
  readonly credentials: S3Credentials;
  readonly now: () => number;
};

/** An `s3://` storage root: a prefix of a bucket, with the credentials of the operator's environment. */
export function s3Storage(root: string, options: Omit<TransferOptions, "concurrency">): VersionStorage {
  const bucket = openBucket(root, options);
  return {
    store: async (files, storing) => {
      const tooLarge = files.find(({ size }) => size > MOST_OBJECT_BYTES);
      if (tooLarge !== undefined) throw new StorageRefusal(`${tooLarge.path} is larger than an object may be (5 TiB)`);
      await requireNoOthers(files, bucket, storing);
      const queue = new PQueue({ concurrency: CONCURRENCY });
      const failed = new AbortController();
      const each = { ...storing, signal: AbortSignal.any([storing.signal, failed.signal]) };
      try {
        await Promise.all(files.map((file) => queue.add(() => storeFile(file, bucket, each))));
      } catch (error) {
        failed.abort(error);
        queue.clear();
        await queue.onIdle().catch(() => undefined);
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => bucket.transfer[Symbol.asyncDispose](),
  };
}

function openBucket(root: string, options: Omit<TransferOptions, "concurrency">): Bucket {
  const [, name = "", path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+?)\/*$/.exec(root) ?? [];
  if (name === "") throw new StorageRefusal("the storage root is no prefix of a bucket");
  const { env, clock } = options;
  const credentials = credentialsIn(env);
  const region = set(env.AWS_REGION) ?? set(env.AWS_DEFAULT_REGION) ?? "us-east-1";
  const endpoint = set(env.AWS_ENDPOINT_URL_S3) ?? set(env.AWS_ENDPOINT_URL);
  // A name with dots is no name that the certificate of the host is for.
  const isInPath = endpoint !== null || name.includes(".");
  const address = endpoint ?? `https://${isInPath ? "" : `${name}.`}s3.${region}.amazonaws.com`;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new StorageRefusal("AWS_ENDPOINT_URL is not an http address");
  return {
    transfer: openTransfer(url.origin, { ...options, concurrency: CONCURRENCY }),
    host: url.host,
    base: `${url.pathname.replace(/\/+$/, "")}/${isInPath ? `${name}/` : ""}`,
    prefix: path,
    title: `s3://${name}/${path}`,
    region,
    credentials,
    now: clock.now,
  };
}

function credentialsIn(env: Environment): S3Credentials {
  const [id, secret, token] = [set(env.AWS_ACCESS_KEY_ID), set(env.AWS_SECRET_ACCESS_KEY), set(env.AWS_SESSION_TOKEN)];
  if (id === null || secret === null) {
    throw new StorageRefusal("the storage is a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for it");
  }
  return {
    accessKeyId: id,
    secretAccessKey: new Secret(secret),
    sessionToken: token === null ? null : new Secret(token),
  };
}

function set(value: string | undefined): string | null {
  return value === undefined || value.trim() === "" ? null : value.trim();
}

type Asked = {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The key of an object; empty for the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: { readonly size: number; readonly digest: string; readonly open: () => AsyncIterable<Buffer> };
};

const EMPTY = createHash("sha256").digest("hex");

function send(
  { method, key, query = {}, headers = {}, content }: Asked,
  bucket: Bucket,
  stop: Stop,
): Promise<TransferReply> {
  // A bucket in the path is asked for without a slash behind it, as by Amazon's own clients.
  const path = key === "" ? bucket.base.replace(/(?<=.)\/$/, "") : bucket.base + key.split("/").map(encodeS3).join("/");
  const text = canonicalQuery(query);
  const signed = { method, host: bucket.host, path, query, headers, bodyDigest: content?.digest ?? EMPTY };
  return bucket.transfer.send(
    {
      method,
      path: text === "" ? path : `${path}?${text}`,
      headers: () => signS3(signed, bucket.credentials, { region: bucket.region, at: bucket.now() }),
      ...(content !== undefined && { content }),
      ...(content === undefined && (method === "PUT" || method === "POST") && { content: NOTHING }),
    },
    stop,
  );
}

const NOTHING = { size: 0, open: async function* (): AsyncGenerator<Buffer, void, undefined> {} };

async function storeFile(file: VersionFile, bucket: Bucket, storing: Storing): Promise<void> {
  storing.signal.throwIfAborted();
  const key = `${bucket.prefix}/${file.path}`;
  if (await isThere(file, key, bucket, storing)) return storing.onStored(file.size);
  if (file.size > PART_BYTES) await storeInParts(file, key, bucket, storing);
  else await storeWhole(file, key, bucket, storing);
  if (await isThere(file, key, bucket, storing)) return;
  throw new StorageRefusal(`the storage ${bucket.title} accepted ${file.path}, and does not have it`);
}

async function isThere({ path, size, digest }: VersionFile, key: string, bucket: Bucket, stop: Stop): Promise<boolean> {
  const { status, headers, body } = await send({ method: "HEAD", key }, bucket, stop);
  // Without the right to list a bucket, an object that is absent is answered so.
  if (status === 404 || status === 403) return false;
  if (status >= 300) throw refusal(`cannot be asked for ${path}`, { status, headers, body }, bucket);
  return headers["content-length"] === String(size) && headers[DIGEST_HEADER] === digest;
}

async function storeWhole(file: VersionFile, key: string, bucket: Bucket, storing: Storing): Promise<void> {
  const { size, digest, path } = file;
  const open = () => readPart(file, { first: 0, size }, storing);
  const headers = { [DIGEST_HEADER]: digest };
  const reply = await send({ method: "PUT", key, headers, content: { size, digest, open } }, bucket, storing);
  if (reply.status >= 300) throw refusal(`does not take ${path}`, reply, bucket);
  storing.onStored(size);
}

type SentPart = { readonly number: number; readonly etag: string };

async function storeInParts(file: VersionFile, key: string, bucket: Bucket, storing: Storing): Promise<void> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(file.size / MOST_PARTS));
  const upload = (await findUpload(key, bucket, storing)) ?? (await beginUpload(file, key, bucket, storing));
  try {
    const present = await listParts(key, upload, bucket, storing);
    const whole = createHash("sha256");
    const sent: SentPart[] = [];
    for (let first = 0; first < file.size; first += partBytes) {
      const part = { first, size: Math.min(partBytes, file.size - first) };
      const number = sent.length + 1;
      const { sha256, md5 } = await digestsOf(file, part, whole, storing);
      const known = present.get(number);
      const isSame = known?.size === part.size && known.etag === `"${md5}"`;
      const etag = isSame
        ? known.etag
        : await sendPart(file, { part, number, sha256 }, { key, upload, bucket }, storing);
      sent.push({ number, etag });
      storing.onStored(part.size);
    }
    if (whole.digest("hex") !== file.digest) throw new FilesError(`${file.path} has changed while it was read`);
    await completeUpload(file, sent, { key, upload, bucket }, storing);
  } catch (error) {
    // What was sent is kept for the next run where only the connection broke.
    if (error instanceof StorageRefusal || error instanceof FilesError) {
      const query = { uploadId: upload };
      await send({ method: "DELETE", key, query }, bucket, storing).catch(() => undefined);
    }
    throw error;
  }
}

// The digest of a part is signed before it is sent, so a part is read twice: in memory it would take as much as it is large.
async function digestsOf(
  file: VersionFile,
  part: FilePart,
  whole: ReturnType<typeof createHash>,
  stop: Stop,
): Promise<{ readonly sha256: string; readonly md5: string }> {
  const [sha256, md5] = [createHash("sha256"), createHash("md5")];
  for await (const chunk of readPart(file, part, stop)) for (const sum of [sha256, md5, whole]) sum.update(chunk);
  return { sha256: sha256.digest("hex"), md5: md5.digest("hex") };
}

type InUpload = { readonly key: string; readonly upload: string; readonly bucket: Bucket };

async function sendPart(
  file: VersionFile,
  { part, number, sha256 }: { readonly part: FilePart; readonly number: number; readonly sha256: string },
  { key, upload, bucket }: InUpload,
  storing: Storing,
): Promise<string> {
  const content = { size: part.size, digest: sha256, open: () => readPart(file, part, storing) };
  const query = { partNumber: String(number), uploadId: upload };
  const reply = await send({ method: "PUT", key, query, content }, bucket, storing);
  const etag = reply.headers.etag;
  if (reply.status >= 300 || typeof etag !== "string") throw refusal(`does not take ${file.path}`, reply, bucket);
  return etag;
}

async function findUpload(key: string, bucket: Bucket, stop: Stop): Promise<string | null> {
  const reply = await send({ method: "GET", key: "", query: { uploads: "", prefix: key } }, bucket, stop);
  // Whoever may not list uploads begins a new one.
  if (reply.status >= 300) return null;
  const uploads = elements(reply, "Upload").filter((upload) => textIn(upload, "Key") === key);
  return uploads.map((upload) => textIn(upload, "UploadId")).find((id) => id !== "") ?? null;
}

async function beginUpload({ path, digest }: VersionFile, key: string, bucket: Bucket, stop: Stop): Promise<string> {
  const headers = { [DIGEST_HEADER]: digest };
  const reply = await send({ method: "POST", key, query: { uploads: "" }, headers }, bucket, stop);
  const id = textIn(reply.body.toString(), "UploadId");
  if (reply.status >= 300 || id === "") throw refusal(`does not take ${path}`, reply, bucket);
  return id;
}

async function listParts(
  key: string,
  upload: string,
  bucket: Bucket,
  stop: Stop,
): Promise<ReadonlyMap<number, { readonly size: number; readonly etag: string }>> {
  const found = new Map<number, { readonly size: number; readonly etag: string }>();
  for (let after = ""; ; ) {
    const query = { uploadId: upload, ...(after !== "" && { "part-number-marker": after }) };
    const reply = await send({ method: "GET", key, query }, bucket, stop);
    if (reply.status >= 300) return found;
    for (const part of elements(reply, "Part")) {
      const etag = textIn(part, "ETag");
      found.set(Number(textIn(part, "PartNumber")), { size: Number(textIn(part, "Size")), etag: quoted(etag) });
    }
    const text = reply.body.toString();
    const next = textIn(text, "NextPartNumberMarker");
    if (textIn(text, "IsTruncated") !== "true" || next === "" || next === after) return found;
    after = next;
  }
}

function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

async function completeUpload(
  { path }: VersionFile,
  parts: readonly SentPart[],
  { key, upload, bucket }: InUpload,
  stop: Stop,
): Promise<void> {
  const list = parts.map(({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = Buffer.from(
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`,
  );
  const content = {
    size: body.length,
    digest: createHash("sha256").update(body).digest("hex"),
    open: async function* () {
      yield body;
    },
  };
  const headers = { "content-type": "application/xml" };
  const reply = await send({ method: "POST", key, query: { uploadId: upload }, headers, content }, bucket, stop);
  // An upload that was completed before its reply was lost is unknown now; whether the object is there is looked at next.
  if (reply.status === 404) return;
  // The status is sent before the parts are joined, so that a failure may follow a 200.
  if (reply.status >= 300 || /<Error>/.test(reply.body.toString())) {
    throw refusal(`does not take ${path}`, reply, bucket);
  }
}

async function requireNoOthers(files: readonly VersionFile[], bucket: Bucket, stop: Stop): Promise<void> {
  const keys = new Set(files.map(({ path }) => `${bucket.prefix}/${path}`));
  for (let after = ""; ; ) {
    const query = {
      "list-type": "2",
      prefix: `${bucket.prefix}/`,
      ...(after !== "" && { "continuation-token": after }),
    };
    const reply = await send({ method: "GET", key: "", query }, bucket, stop);
    // The right to list is not needed to store.
    if (reply.status === 403 && /<Code>AccessDenied<\/Code>/.test(reply.body.toString())) return;
    if (reply.status >= 300) throw refusal("cannot be listed", reply, bucket);
    const foreign = elements(reply, "Contents")
      .map((object) => textIn(object, "Key"))
      .find((key) => !keys.has(key));
    if (foreign !== undefined) throw new StorageRefusal(`the storage ${bucket.title} has another file: ${foreign}`);
    const text = reply.body.toString();
    after = textIn(text, "NextContinuationToken");
    if (textIn(text, "IsTruncated") !== "true" || after === "") return;
  }
}

// The replies are small and of a fixed form: no attribute and no nested element of the same name.
function elements({ body }: TransferReply, name: string): readonly string[] {
  return Array.from(body.toString().matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs")), ([, inner = ""]) => inner);
}

function textIn(xml: string, name: string): string {
  const [, inner = ""] = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(xml) ?? [];
  return inner.replaceAll(/&(lt|gt|quot|apos|amp|#x?[\da-fA-F]{1,6});/g, (_, entity: string) => entityText(entity));
}

const named: { readonly [entity: string]: string } = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function entityText(entity: string): string {
  const code = entity.startsWith("#x") ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1));
  return named[entity] ?? String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd);
}

const FULL: readonly string[] = ["QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "StorageFull"];

function refusal(what: string, { status, body }: TransferReply, { title, region }: Bucket): StorageRefusal {
  const xml = body.toString();
  const [code, message] = [textIn(xml, "Code"), textIn(xml, "Message")];
  const why = FULL.includes(code) || status === 507 ? "it is full" : message;
  const elsewhere = status === 301 || status === 307 || code === "AuthorizationHeaderMalformed";
  const hint = elsewhere ? `; AWS_REGION (${region}) may be another one than the bucket's` : "";
  const said = [`${status}${code === "" ? "" : ` ${code}`}`, ...(why === "" ? [] : [why])].join(": ");
  return new StorageRefusal(`the storage ${title} ${what} (${escapeUnprintable(said).slice(0, MOST_SHOWN)}${hint})`);
}
