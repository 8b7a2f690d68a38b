import { hash } from "node:crypto";

/** The digest by which a content is known again. */
export function contentDigest(content: Uint8Array | string): string {
  return hash("sha256", content, "base64");
}

/** Digests by blob id: the same content under many names is digested once. */
export function blobDigests(): (blob: string, bytes: Uint8Array) => string {
  const known = new Map<string, string>();
  return (blob, bytes) => {
    const digest = known.get(blob) ?? contentDigest(bytes);
    known.set(blob, digest);
    return digest;
  };
}
