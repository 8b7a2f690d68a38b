import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { decodeRoughly } from "../yaml/decode-text.ts";
import type { ParsedFile } from "../yaml/document.ts";
import { claimsType } from "./claims-type.ts";
import { isPlanText } from "./detect-manifest.ts";

/**
 * What a file above the size limit is: a report that Holdfast wrote, a manifest if its text names a claimed type, or
 * another document. Null if the file is within the limit.
 */
export function detectOversize(
  { size }: SourceFile,
  bytes: Uint8Array,
  { fileBytes }: Limits,
  claims: (text: string) => boolean = claimsType,
): "report" | "manifest" | "other" | null {
  if (size <= fileBytes) return null;
  const text = decodeRoughly(bytes);
  if (isPlanText(text)) return "report";
  return claims(text) ? "manifest" : "other";
}

/** Whether a file that is not text, or has a fault as a whole, names a claimed type. */
export function claimsFile(
  bytes: Uint8Array,
  { text }: ParsedFile,
  claims: (text: string) => boolean = claimsType,
): boolean {
  // UTF-16 without a mark is UTF-8 with NUL characters.
  return claims(text === "" || text.includes("\0") ? decodeRoughly(bytes) : text);
}
