import type { Json } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { FieldOffsets } from "./field-offsets.ts";

/** An unquoted number or boolean that a program writes in another way: `3.10` as `3.1`, `TRUE` as `true`. */
export type Respelling = {
  /** The JSON Pointer of the value. */
  readonly pointer: string;
  /** Its text in the file. */
  readonly written: string;
};

/** A respelling, by the offset of its text. */
export type RespeltText = { readonly offset: number; readonly written: string };

/** The respellings of a document that has none. */
export const noRespellings: () => readonly Respelling[] = () => [];

/** Whether an unquoted scalar has another text than the one that its value is written as. */
export function isRespelt(written: string, value: Json): boolean {
  return (typeof value === "number" || typeof value === "boolean") && String(value) !== written;
}

/** The respellings of a document, by the offsets of its fields. */
export function respellingsAt(texts: readonly RespeltText[], fieldOffsets: FieldOffsets): readonly Respelling[] {
  const writtenAt = new Map(texts.map(({ offset, written }) => [offset, written]));
  const found: Respelling[] = [];
  const search = ({ value, inside }: FieldOffsets, pointer: string): void => {
    const written = inside === null ? writtenAt.get(value) : undefined;
    if (written !== undefined) found.push({ pointer, written });
    for (const [name, field] of inside ?? []) search(field, `${pointer}/${escapePointer(name)}`);
  };
  search(fieldOffsets, "");
  return found;
}
