import { hash } from "node:crypto";
import { HoldfastError } from "../core/errors.ts";
import { openFile } from "./open.ts";

/** What content is known by: no two that differ have the same. */
export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}

/** A file whose content is known by its digest; none for the beginning of a larger one. */
type Known = { readonly path: string; readonly limit: number; readonly digest: string | null };

/**
 * Gives out what was read of a file, once, so that nobody holds it for longer than needed; after that it is read again,
 * and must be the same.
 */
export function contentReader(known: Known, held: Uint8Array | null): () => Uint8Array {
  const { digest } = known;
  if (digest === null) {
    const beginning = held ?? new Uint8Array();
    return () => beginning;
  }
  let first = held;
  return () => {
    const bytes = first ?? readAgain(known, digest);
    first = null;
    return bytes;
  };
}

function readAgain({ path, limit }: Known, digest: string): Uint8Array {
  const opened = openFile(path, limit);
  if (opened.is === "read" && opened.size === opened.bytes.length && digestOf(opened.bytes) === digest)
    return opened.bytes;
  throw new HoldfastError("error", `${path} was changed while it was being read`, {
    hint: "run it again once nothing writes there",
  });
}
