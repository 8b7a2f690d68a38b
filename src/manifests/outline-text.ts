import type { Identity, Reference } from "../core/manifest.ts";
import type { DeclarationOutline, Outline } from "./outline.ts";

type Written = readonly [unmanaged: number, said: Outline["said"], ...declarations: readonly WrittenOne[]];

type WrittenOne = readonly [
  type: string,
  identity: Identity,
  line: number,
  index: number,
  meaning: readonly [cluster: string | null, day: string | null] | null,
  /** Identity and pointer by turns. */
  ...references: readonly string[],
];

/** Writes what a file contributes in one line. */
export function writeOutline(content: Outline | null): string {
  if (content === null) return "null";
  const { unmanaged, said, declarations } = content;
  const written: Written = [unmanaged, said, ...declarations.map(writeDeclaration)];
  return JSON.stringify(written);
}

function writeDeclaration({ type, identity, line, index, references, meaning }: DeclarationOutline): WrittenOne {
  const told = meaning && ([meaning.cluster, meaning.day] as const);
  return [type, identity, line, index, told, ...references.flatMap((each) => [each.identity, each.pointer])];
}

/** Gives a text that is the same, perhaps one that is held already. */
export type Same = (text: string) => string;

const asItIs: Same = (text) => text;

/** Reads what `writeOutline` wrote. */
export function readOutline(line: string, same: Same = asItIs): Outline | null {
  const written = JSON.parse(line) as Written | null;
  if (written === null) return null;
  const [unmanaged, said, ...declarations] = written;
  return { unmanaged, said, declarations: declarations.map((one) => readDeclaration(one, same)) };
}

function readDeclaration([type, identity, line, index, told, ...rest]: WrittenOne, same: Same): DeclarationOutline {
  const references: Reference[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    references.push({ identity: same(rest[at] ?? ""), pointer: same(rest[at + 1] ?? "") });
  }
  const [cluster = null, day = null] = told ?? [];
  const meaning = told && { cluster: cluster === null ? null : same(cluster), day };
  return { type, identity, line, index, references, meaning };
}
