const LENGTH_BYTES = 4;

/** The strings of which a message in the encoding of SSH consists (RFC 4251, section 5); null where it does not consist of strings. */
export function wireStrings(bytes: Buffer): readonly Buffer[] | null {
  const { strings, rest } = wireStart(bytes, Infinity) ?? {};
  return strings !== undefined && rest?.length === 0 ? strings : null;
}

/** That many strings with which a message begins, at most, and the bytes behind them; null where a string is cut off. */
export function wireStart(
  bytes: Buffer,
  most: number,
): { readonly strings: readonly Buffer[]; readonly rest: Buffer } | null {
  const strings: Buffer[] = [];
  let at = 0;
  while (at < bytes.length && strings.length < most) {
    if (bytes.length - at < LENGTH_BYTES) return null;
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    strings.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return { strings, rest: bytes.subarray(at) };
}

/** A string in the encoding of SSH. */
export function wireString(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The bytes of a positive integer without its sign byte; null where it is negative, zero or not in its shortest form. */
export function positiveInteger(bytes: Buffer): Buffer | null {
  const [first = 0, second = 0] = bytes;
  if (bytes.length === 0 || first > 0x7f) return null;
  if (first !== 0) return bytes;
  return second > 0x7f ? bytes.subarray(1) : null;
}

/** The bytes of text in base64, of which there is one spelling; null for any other text. */
export function base64Bytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64");
  return text !== "" && bytes.toString("base64") === text ? bytes : null;
}
