import type { Statement } from "./statement.ts";

/**
 * Changes for another thread: the byte arrays among their values are copied into one buffer, which is transferred.
 * Transferring each by itself takes longer than copying it.
 */
export type PackedChanges = {
  readonly changes: readonly (readonly Statement[])[];
  readonly bytes: Uint8Array<ArrayBuffer>;
};

/** The range of a value's bytes in the buffer. */
type Span = { readonly from: number; readonly to: number };

/** Packs changes; the given values stay usable. */
export function packChanges(changes: PackedChanges["changes"]): PackedChanges {
  const bytes = new Uint8Array(sizeOf(changes));
  let used = 0;
  const packed = (value: unknown): unknown => {
    if (!(value instanceof Uint8Array)) return value;
    bytes.set(value, used);
    used += value.byteLength;
    return { from: used - value.byteLength, to: used } satisfies Span;
  };
  return { changes: changes.map((change) => change.map((one) => withValues(one, packed))), bytes };
}

/** Unpacks changes; their byte arrays are views of the buffer. */
export function unpackChanges({ changes, bytes }: PackedChanges): PackedChanges["changes"] {
  const unpacked = (value: unknown): unknown => (isSpan(value) ? bytes.subarray(value.from, value.to) : value);
  return changes.map((change) => change.map((one) => withValues(one, unpacked)));
}

function withValues({ sql, values }: Statement, of: (value: unknown) => unknown): Statement {
  return { sql, values: values.map(of) };
}

function sizeOf(changes: PackedChanges["changes"]): number {
  let size = 0;
  for (const change of changes) {
    for (const { values } of change)
      for (const value of values) if (value instanceof Uint8Array) size += value.byteLength;
  }
  return size;
}

// No other object is a value of a statement.
function isSpan(value: unknown): value is Span {
  return typeof value === "object" && value !== null && "from" in value;
}
