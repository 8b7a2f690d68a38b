import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { UnsafePathError } from "../../../src/files/unsafe-path-error.ts";
import { SealError, seal, sealedVersion, unseal } from "../../../src/seal/seal.ts";
import { deriveKey, loadOrCreateKey, parseKey } from "../../../src/seal/seal-key.ts";

const key = parseKey(randomBytes(32).toString("base64"));

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("a sealed value is unsealed with its key and its associated data", () => {
  for (const text of ["", "a", "ünïcode\0", "x".repeat(100_000)]) {
    expect(unseal(key, seal(key, text, "row 1"), "row 1").toString()).toBe(text);
  }
});

test("sealing the same twice gives different bytes, none of them the text", () => {
  const [first, second] = [seal(key, "hunter2hunter2", "a"), seal(key, "hunter2hunter2", "a")];
  expect(first.equals(second)).toBe(false);
  expect(first.includes("hunter2")).toBe(false);
});

test("a value moved to another row cannot be unsealed", () => {
  expect(() => unseal(key, seal(key, "text", "row 1"), "row 2")).toThrow(expect.objectContaining({ code: "tampered" }));
});

test("a value with a changed byte or length cannot be unsealed", () => {
  const sealed = seal(key, "text", "a");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => unseal(key, changed, "a")).toThrow(SealError);
    expect(() => unseal(key, sealed.subarray(0, at), "a")).toThrow(SealError);
  }
});

test("another key is recognised by its version", () => {
  const other = parseKey(randomBytes(32).toString("hex"));
  const sealed = seal(key, "text", "a");
  expect(sealedVersion(sealed)).toBe(key.version);
  expect(() => unseal(other, sealed, "a")).toThrow(expect.objectContaining({ code: "other-key" }));
});

test("a derived key depends on purpose and context, and is the same each time", () => {
  const derived = deriveKey(key, "replies", Buffer.from("client 1"));
  expect(deriveKey(key, "replies", Buffer.from("client 1")).bytes.open()).toBe(derived.bytes.open());
  expect(deriveKey(key, "replies", Buffer.from("client 2")).bytes.open()).not.toBe(derived.bytes.open());
  expect(deriveKey(key, "tokens", Buffer.from("client 1")).bytes.open()).not.toBe(derived.bytes.open());
});

test("a key file is made once, for its owner alone", async () => {
  const path = join(await folder(), "key");
  const made = await loadOrCreateKey(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await loadOrCreateKey(path)).bytes.open()).toBe(made.bytes.open());
  expect(parseKey(await readFile(path, "utf8")).version).toBe(made.version);
});

test("a key file that others can read is refused, and so is one that is no key", async () => {
  const path = join(await folder(), "key");
  await writeFile(path, "short", { mode: 0o600 });
  await expect(loadOrCreateKey(path)).rejects.toThrow(`${path}: a key is 32 bytes`);
  await chmod(path, 0o644);
  await expect(loadOrCreateKey(path)).rejects.toThrow("chmod 600");
  await expect(loadOrCreateKey(path)).rejects.toBeInstanceOf(UnsafePathError);
});

test("a key is not printed", () => {
  expect(inspect(key, { depth: 5 })).not.toContain(key.bytes.open());
  expect(JSON.stringify(key)).not.toContain(key.bytes.open());
});
