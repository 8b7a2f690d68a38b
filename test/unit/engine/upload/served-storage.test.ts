import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TransferError } from "../../../../src/client/transfer.ts";
import { systemClock, systemRandom } from "../../../../src/clock/system.ts";
import { digestFile } from "../../../../src/engine/model-files/read-file.ts";
import { storageOpener } from "../../../../src/engine/upload/open-storage.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { listen } from "../../../support/listen.ts";

const signal = new AbortController().signal;
const SIGNED = "/api/ml/v1/staged/stage-1.1900000000.0123456789012345678901234567890123456789012";

/** A server that answers a list of files, and uploads with a status. */
async function trial(listed: readonly object[], { status = 200, body = "" } = {}) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume();
    if (request.method === "GET") response.end(JSON.stringify({ data: listed }));
    else response.writeHead(status).end(body);
  });
  const url = await listen(server);
  const folder = await temporaryFolder();
  writeFileSync(join(folder, "weights"), "0123456789");
  const file = await digestFile({ path: "weights", real: join(folder, "weights") }, () => {}, { signal });
  const clock = { ...systemClock, sleep: async () => systemClock.turn() };
  const limits = { connectTimeout: 5_000, requestTimeout: 30_000, userAgent: "holdfast/test" };
  const open = storageOpener({ ...limits, env: {}, clock, random: systemRandom, server: url });
  const store = async (root = `${url}${SIGNED}`): Promise<void> => {
    await using storage = open(root);
    await storage.store([file], { signal, onStored: () => {} });
  };
  return { asked, store, file, url };
}

test("a storage that accepts a file and does not list it is found out", async () => {
  const { store, url } = await trial([]);
  await expect(store()).rejects.toThrow(
    `the storage ${url}/api/ml/v1/staged/stage-1 accepted weights, and does not have it`,
  );
});

test("a storage with another file is refused", async () => {
  const { file } = await trial([]);
  const own = { path: "weights", size: file.size, digest: `sha256:${file.digest}` };
  const { store, asked } = await trial([own, { path: "other", size: 1, digest: "sha256:0" }]);
  await expect(store()).rejects.toThrow("has another file: other");
  expect(asked.filter((one) => one.startsWith("PUT"))).toEqual([]);
});

test("a refusal says what the control plane says, and never the signature", async () => {
  const says = `no room under https://x.example.com${SIGNED}`;
  const { store } = await trial([], { status: 507, body: JSON.stringify({ message: says }) });
  const error = String(await store().catch((caught: unknown) => caught));
  expect(error).toContain("does not take weights (507): no room under");
  expect(error).not.toMatch(/0123456789012345678901234567890123456789012/);
});

test("a busy control plane is asked again, and its upload may be continued", async () => {
  const { store, asked } = await trial([], { status: 503 });
  await expect(store()).rejects.toThrow(TransferError);
  expect(asked.filter((one) => one.startsWith("PUT"))).toHaveLength(6);
});

test.each([
  ["http://storage.example.com/x", "files are sent over https"],
  ["ftp://storage.example.com/x", "none of file, https and s3"],
  ["not an address", "none of file, https and s3"],
  ["s3://models", "no prefix of a bucket"],
])("nothing is sent to the storage root %s", async (root, says) => {
  const { store, asked } = await trial([]);
  await expect(store(root)).rejects.toThrow(says);
  expect(asked).toEqual([]);
});
