import { Buffer } from "node:buffer";
import type { Secret } from "../contract/secret.ts";

const LIMIT = 2048;
// Control, bidirectional and zero-width characters could forge what a person reads.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text of a stranger, fit to be shown: at most 2 KiB, nothing invisible in it, and without the caller's token. */
export function excerpt(text: string, { without }: { readonly without?: Secret } = {}): string {
  const token = without?.open() ?? "";
  const masked = token === "" ? text : text.replaceAll(token, String(without));
  const shown = masked
    .slice(0, LIMIT)
    .replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return Buffer.byteLength(shown) <= LIMIT && masked.length <= LIMIT ? shown : `${cut(shown)} …`;
}

// Decoding a cut sequence leaves replacement characters at the end, which `trimEnd` of them removes.
function cut(text: string): string {
  return Buffer.from(text)
    .subarray(0, LIMIT - 4)
    .toString()
    .replace(/\ufffd+$/, "");
}
