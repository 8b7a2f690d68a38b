import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { TransferError } from "../../../../src/client/transfer.ts";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import { FilesError } from "../../../../src/engine/model-files/files-error.ts";
import { digestFile } from "../../../../src/engine/model-files/read-file.ts";
import { s3Storage } from "../../../../src/engine/upload/s3-storage.ts";
import { StorageRefusal } from "../../../../src/engine/upload/storage.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { startS3Double } from "../../../support/s3-double.ts";

const signal = new AbortController().signal;
const ROOT = "s3://models/staged/019aa2c4";
const MIB = 1024 * 1024;

/** The clock of the machine, whose waits are over at once. */
const clock = { ...systemClock, sleep: async () => systemClock.turn() };

async function filesOf(content: { readonly [path: string]: Buffer }) {
  const folder = await temporaryFolder();
  const read = Object.entries(content).map(([path, bytes]) => {
    const real = join(folder, path);
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, bytes);
    return digestFile({ path, real }, () => {}, { signal });
  });
  return { folder, files: await Promise.all(read) };
}

async function bucket() {
  const double = await startS3Double();
  const storeAt =
    (root: string, env: Readonly<Record<string, string>>) =>
    async (files: Parameters<ReturnType<typeof s3Storage>["store"]>[0]): Promise<number> => {
      let stored = 0;
      const onStored = (bytes: number): void => {
        stored += bytes;
      };
      const options = { env, clock, random: systemRandom, connectTimeout: 5_000, requestTimeout: 30_000 };
      await using storage = s3Storage(root, { ...options, userAgent: "holdfast/test" });
      await storage.store(files, { signal, onStored });
      return stored;
    };
  return { double, storeAt, store: storeAt(ROOT, double.env) };
}

const puts = (asked: readonly string[]) => asked.filter((one) => one.startsWith("PUT "));

test("files are stored as objects with their digests, large ones in parts, and are not sent again", async () => {
  const { double, store } = await bucket();
  const content = {
    "config.json": Buffer.from("{}"),
    empty: Buffer.alloc(0),
    "weights/a b+ä'(1)*.bin": randomBytes(33 * MIB + 5),
  };
  const { files } = await filesOf(content);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  expect(await store(files)).toBe(size);
  for (const { path, digest } of files) {
    const object = double.objects.get(`staged/019aa2c4/${path}`);
    expect(object?.body.equals(content[path as keyof typeof content])).toBe(true);
    expect(object?.headers).toEqual({ "x-amz-meta-holdfast-sha256": digest });
  }
  expect([double.objects.size, double.uploads.size, puts(double.asked).length]).toEqual([3, 0, 5]);
  expect([await store(files), puts(double.asked).length]).toEqual([size, 5]);
});

test("an upload in parts that breaks is continued with the parts that are missing, or are not the same", async () => {
  const { double, store } = await bucket();
  const { files } = await filesOf({ weights: randomBytes(50 * MIB) });
  double.breaks = (asked) => asked.includes("partNumber=4");
  await expect(store(files)).rejects.toThrow(TransferError);
  const [upload] = double.uploads.values();
  expect(upload?.parts.size).toBe(3);
  upload?.parts.set(2, randomBytes(16 * MIB));
  double.breaks = () => false;
  const sent = double.asked.length;
  expect(await store(files)).toBe(50 * MIB);
  expect(puts(double.asked.slice(sent)).map((asked) => /partNumber=\d/.exec(asked)?.[0])).toEqual([
    "partNumber=2",
    "partNumber=4",
  ]);
  expect(double.uploads.size).toBe(0);
});

test("a bucket that is busy is asked again", async () => {
  const { double, store } = await bucket();
  const { files } = await filesOf({ weights: Buffer.from("x") });
  let busy = 2;
  double.refuse = (asked) => (asked.startsWith("PUT ") && busy-- > 0 ? { status: 503, code: "SlowDown" } : null);
  expect(await store(files)).toBe(1);
});

test.each([
  {
    status: 403,
    code: "AccessDenied",
    message: "Access &lt;Denied&gt;",
    says: /does not take weights \(403 AccessDenied: Access <Denied>\)/,
  },
  { status: 507, code: "XMinioStorageFull", says: /it is full/ },
  { status: 400, code: "QuotaExceeded", says: /it is full/ },
  { status: 301, code: "PermanentRedirect", says: /AWS_REGION \(eu-west-1\)/ },
])("a bucket that answers $status $code refuses the files, and keeps no part of them", async ({ says, ...answer }) => {
  const { double, store } = await bucket();
  const { files } = await filesOf({ weights: randomBytes(17 * MIB) });
  double.refuse = (asked) => (asked.includes("partNumber=2") ? answer : null);
  await expect(store(files)).rejects.toThrow(StorageRefusal);
  await expect(store(files)).rejects.toThrow(says);
  expect([double.objects.size, double.uploads.size]).toEqual([0, 0]);
});

test("a store that accepts an object and does not have it is found out", async () => {
  const { double, store } = await bucket();
  const { files } = await filesOf({ weights: Buffer.from("x") });
  double.objects.set = () => double.objects;
  await expect(store(files)).rejects.toThrow("accepted weights, and does not have it");
});

test("a prefix with another object gets nothing", async () => {
  const { double, store } = await bucket();
  const { files } = await filesOf({ a: Buffer.from("x") });
  for (const key of ["a", "b", "c"])
    double.objects.set(`staged/019aa2c4/${key}`, { body: Buffer.from("y"), headers: {} });
  await expect(store(files)).rejects.toThrow("has another file: staged/019aa2c4/b");
  expect(puts(double.asked)).toEqual([]);
});

test("a file that changes while its parts are sent is refused, and no part of it stays", async () => {
  const { double, store } = await bucket();
  const { files, folder } = await filesOf({ weights: randomBytes(40 * MIB) });
  double.refuse = (asked) => {
    if (asked.includes("partNumber=2")) appendFileSync(join(folder, "weights"), "x");
    return null;
  };
  await expect(store(files)).rejects.toThrow(FilesError);
  expect([double.objects.size, double.uploads.size]).toEqual([0, 0]);
});

test("credentials that the bucket does not know, or that are not set, are named, and not shown", async () => {
  const { double, storeAt } = await bucket();
  const { files } = await filesOf({ weights: Buffer.from("x") });
  const wrong = storeAt(ROOT, { ...double.env, AWS_SECRET_ACCESS_KEY: "canary-of-a-secret" });
  const error = await wrong(files).catch((caught: unknown) => caught);
  expect(String(error)).toContain("403 SignatureDoesNotMatch");
  expect(String(error)).not.toContain("canary");
  await expect(storeAt(ROOT, { AWS_ENDPOINT_URL: double.url })(files)).rejects.toThrow("set AWS_ACCESS_KEY_ID and");
  await expect(storeAt("s3://other/prefix", double.env)(files)).rejects.toThrow("NoSuchBucket");
});
