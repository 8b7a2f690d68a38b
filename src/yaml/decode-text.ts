// src/yaml: bytes to documents with positions. See docs/manifests.md#yaml.

import { isAscii, isUtf8 } from "node:buffer";
import { type Fault, fault } from "./fault.ts";

/** The text of a file with LF line endings, or the reason why it is not text. */
export type Decoded =
  /** `isSimple`: only printable ASCII and line feeds, as most files. */
  { readonly text: string; readonly isSimple: boolean } | { readonly fault: Fault; readonly text: string };

const NOT_SIMPLE = /[^\n\x20-\x7e]/;

// The characters that YAML 1.2 calls non-printable, and the byte-order mark, which is allowed only at the very start.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match them.
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]|\r/;

// YAML 1.2.2 (5.2, 9.2) allows a mark before each document and its comments, as files that were joined have it.
const LATER_MARK = /(?<=\n)\ufeff(?=(?:[ \t]*(?:#.*)?\n)*---(?:\s|$))|(?<=^\.\.\.(?:[ \t].*)?\n)\ufeff/gm;

/** Decodes bytes as UTF-8. Anything else is refused. */
export function decode(bytes: Uint8Array): Decoded {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPlain = isAscii(whole);
  if (!isPlain && !isUtf8(whole)) return { fault: encodingFault(whole), text: "" };
  const raw = whole.toString(isPlain ? "latin1" : "utf8");
  if (isPlain && !NOT_SIMPLE.test(raw)) return { text: raw, isSimple: true };
  const text = (raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw).replaceAll("\r\n", "\n").replace(LATER_MARK, "");
  const found = FORBIDDEN.exec(text);
  return found === null ? { text, isSimple: false } : { fault: characterFault(text, found.index, whole), text };
}

/** A rough decoding of bytes that are not valid text, good enough to search for a word. */
export function decodeRoughly(bytes: Uint8Array): string {
  const [first, second] = bytes;
  // UTF-32 begins in the same way, with a NUL character in each of its own.
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes).replaceAll("\0", "");
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (isEbcdic(bytes)) return decodeEbcdic(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("latin1")
    .replaceAll("\0", "")
    .replace(/^\xfe\xff/, "");
}

function encodingFault(bytes: Uint8Array): Fault {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return sixteenBit();
  if (isEbcdic(bytes)) return notUtf8("EBCDIC text where UTF-8 is expected");
  const at = firstInvalid(bytes);
  return notUtf8(`not UTF-8 text: invalid bytes at byte ${at}`);
}

function sixteenBit(): Fault {
  return notUtf8("UTF-16 or UTF-32 text where UTF-8 is expected");
}

function notUtf8(summary: string): Fault {
  return fault(0, "encoding", summary, "Save the file as UTF-8.");
}

// A prefix of valid text is valid except for a cut last character, so a binary search finds the first bad byte.
function firstInvalid(bytes: Uint8Array): number {
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isValid(bytes.subarray(0, middle), true)) low = middle;
    else high = middle - 1;
  }
  const wholeUpTo = [low, low - 1, low - 2, low - 3].find((end) => end >= 0 && isValid(bytes.subarray(0, end), false));
  return wholeUpTo ?? low;
}

function isValid(bytes: Uint8Array, mayBeCut: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: mayBeCut });
    return true;
  } catch {
    return false;
  }
}

function characterFault(text: string, offset: number, bytes: Uint8Array): Fault {
  const code = text.charCodeAt(offset);
  if (code === 0x0d) {
    return fault(offset, "line-ending", "a carriage return without a line feed", "End lines with LF or CRLF.");
  }
  if (code === 0 && bytes.length % 2 === 0 && offset < 4) return sixteenBit();
  if (code === 0xfeff) {
    return fault(
      offset,
      "byte-order-mark",
      "a byte-order mark inside the text",
      "Remove it; only the very start of a file may carry one.",
    );
  }
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return fault(
    offset,
    "control-character",
    `the control character ${name}`,
    `Remove it, or write it as an escape in a "quoted" string.`,
  );
}

// The characters that all code pages of EBCDIC share, and the brackets of two of them, by the first byte of each row.
const ROWS: readonly (readonly [number, string])[] = [
  [0x05, "\t"],
  [0x0d, "\r"],
  [0x15, "\n"],
  [0x25, "\n"],
  [0x40, " "],
  [0x4b, ".<(+|"],
  [0x50, "&"],
  [0x5b, "$*);"],
  [0x60, "-/"],
  [0x6b, ",%_>?"],
  [0x7a, ":#@'=\""],
  [0x81, "abcdefghi"],
  [0x91, "jklmnopqr"],
  [0xa2, "stuvwxyz"],
  [0xad, "["],
  [0xba, "[]"],
  [0xbd, "]"],
  [0xc0, "{ABCDEFGHI"],
  [0xd0, "}JKLMNOPQR"],
  [0xe2, "STUVWXYZ"],
  [0xf0, "0123456789"],
];

const CHARACTERS: readonly string[] = table();

function table(): readonly string[] {
  const characters: string[] = Array(256).fill("\ufffd");
  for (const [first, row] of ROWS) for (const [at, character] of [...row].entries()) characters[first + at] = character;
  return characters;
}

const SPACE = 0x40;

/** Whether bytes that are not UTF-8 are text in EBCDIC: they have its spaces, and none of ASCII's. */
function isEbcdic(bytes: Uint8Array): boolean {
  return bytes.includes(SPACE) && bytes.every((byte) => byte >= SPACE || CHARACTERS[byte] !== "\ufffd");
}

/** A rough decoding of EBCDIC: letters with accents are lost. */
function decodeEbcdic(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => CHARACTERS[byte]).join("");
}
