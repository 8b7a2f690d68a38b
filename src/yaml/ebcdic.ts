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
export function isEbcdic(bytes: Uint8Array): boolean {
  return bytes.includes(SPACE) && bytes.every((byte) => byte >= SPACE || CHARACTERS[byte] !== "\ufffd");
}

/** A rough decoding of EBCDIC: letters with accents are lost. */
export function decodeEbcdic(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => CHARACTERS[byte]).join("");
}
