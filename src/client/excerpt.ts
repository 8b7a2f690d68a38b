import { Buffer } from "node:buffer";
import type { Secret } from "../contract/secret.ts";
import { escapeUnprintable } from "../model/unprintable.ts";

const LIMIT = 2048;

/** Text of a stranger, fit to be shown: at most 2 KiB, nothing invisible in it, and without the caller's token. */
export function excerpt(text: string, { without }: { readonly without?: Secret } = {}): string {
  const token = without?.open() ?? "";
  const masked = token === "" ? text : text.replaceAll(token, String(without));
  const shown = escapeUnprintable(masked.slice(0, LIMIT));
  return Buffer.byteLength(shown) <= LIMIT && masked.length <= LIMIT ? shown : `${cut(shown)} …`;
}

// Decoding a cut sequence leaves replacement characters at the end, which `trimEnd` of them removes.
function cut(text: string): string {
  return Buffer.from(text)
    .subarray(0, LIMIT - 4)
    .toString()
    .replace(/\ufffd+$/, "");
}
