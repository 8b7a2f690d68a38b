import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { createFile } from "../../files/write-file.ts";
import { SealError, seal, unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";

const FORMAT = 1;
const NAME = "holdfast-state";
const MAX_BYTES = 64 * 1024 * 1024;
const MISSING = "name a folder that was created by holdfast state export";

/** The digests of the files of an exported state, by their path in its folder. */
export type ExportIndex = ReadonlyMap<string, string>;

/** Writes the index of an exported state: the format in plain text, the digests sealed. */
export function writeIndex(folder: string, key: SealKey, index: ExportIndex): void {
  const content = seal(key, JSON.stringify([...index]), `${NAME} ${FORMAT}`).toString("base64");
  createFile(join(folder, `${NAME}.json`), `${JSON.stringify({ format: FORMAT, index: content })}\n`, {
    durable: true,
  });
}

/** Reads the index of an exported state; refuses an index of a newer release or one that was sealed with another key. */
export function readIndex(folder: string, key: SealKey): ExportIndex {
  const path = join(folder, `${NAME}.json`);
  const bytes = lstatOrNull(path) === null ? null : readOwnFile(path, { limit: MAX_BYTES });
  if (bytes === null) throw new HoldfastError("invalid", `${folder} holds no exported state`, { hint: MISSING });
  const content = parseJsonOrNull(bytes.toString());
  if (!isObject(content) || typeof content.format !== "number" || typeof content.index !== "string")
    throw new HoldfastError("invalid", `${path} is damaged`, { hint: MISSING });
  if (content.format > FORMAT) {
    throw new HoldfastError("invalid", `${folder} was exported by a newer release (format ${content.format})`, {
      hint: "import it with that release, or a newer one; nothing was changed",
    });
  }
  return opened(folder, key, Buffer.from(content.index, "base64"));
}

function opened(folder: string, key: SealKey, sealed: Buffer): ExportIndex {
  try {
    return new Map(JSON.parse(unseal(key, sealed, `${NAME} ${FORMAT}`).toString()));
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    const why = cause.code === "other-key" ? "was sealed with another key" : "was changed after it was exported";
    throw new HoldfastError("invalid", `the state in ${folder} ${why}`, {
      hint: "provide the key that it was exported with, by --export-key-file",
      cause,
    });
  }
}

/** The digest of a file's content. */
export async function fileDigest(path: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const piece of createReadStream(path)) digest.update(piece);
  return digest.digest("hex");
}
