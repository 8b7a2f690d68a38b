import { hash } from "node:crypto";

/** The digest that identifies a content. */
export function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64");
}

/** Digests by blob id: the same content under many names is digested once. */
export function blobDigests(): (blob: string, bytes: Uint8Array) => string {
  const known = new Map<string, string>();
  return (blob, bytes) => {
    const digest = known.get(blob) ?? digestOf(bytes);
    known.set(blob, digest);
    return digest;
  };
}
