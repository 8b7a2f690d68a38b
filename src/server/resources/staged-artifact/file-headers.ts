import type { IncomingHttpHeaders } from "node:http";
import { HttpError } from "../../../http/http-error.ts";

/** A part of a file, from its first to its last byte. */
export type ByteRange = { readonly first: number; readonly last: number };

/** What a reply says of the content of a file (RFC 9110, RFC 9530), by its SHA-256 in hexadecimal. */
export function fileHeaders(digest: string): { readonly etag: string; readonly "repr-digest": string } {
  return { etag: `"sha256:${digest}"`, "repr-digest": `sha-256=:${Buffer.from(digest, "hex").toString("base64")}:` };
}

/** Refuses a file that is not what its sender says in `Repr-Digest` or `Content-Digest` (400). */
export function checkDigest(headers: IncomingHttpHeaders, digest: string): void {
  for (const name of ["repr-digest", "content-digest"]) {
    const [, expected] = /(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(String(headers[name] ?? "")) ?? [];
    if (expected === undefined || Buffer.from(expected, "base64").toString("hex") === digest) continue;
    throw new HttpError(400, "digest-mismatch", "what arrived has another SHA-256 than its digest says");
  }
}

/** The part of a file that a request asks for; null for all of it. 416 when the file has no such part. */
export function byteRange(
  { range, "if-range": condition }: IncomingHttpHeaders,
  { size, digest }: { readonly size: number; readonly digest: string },
): ByteRange | null {
  if (range === undefined || (condition !== undefined && condition !== fileHeaders(digest).etag)) return null;
  const [, from, to] = /^bytes=(\d{1,15})?-(\d{1,15})?$/.exec(range) ?? [];
  // A range of another form, or several of them, may be ignored.
  if (from === undefined && to === undefined) return null;
  const first = from === undefined ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === undefined || to === undefined ? size - 1 : Math.min(size - 1, Number(to));
  if (first <= last) return { first, last };
  const headers = { "content-range": `bytes */${size}` };
  throw new HttpError(416, "range-not-satisfiable", "the file has no such part", { headers });
}
