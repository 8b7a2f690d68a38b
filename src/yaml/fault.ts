import { isCredential, MASK } from "../model/credential.ts";
import { escapeUnprintable } from "../model/unprintable.ts";

/** Something wrong in a text, at an offset into it (UTF-16 code units from 0). */
export type Fault = {
  readonly severity: "error" | "warning";
  readonly code: string;
  /** One line, never with a value of the text and never a parser's own words. */
  readonly summary: string;
  readonly detail: string | null;
  readonly offset: number;
  /** Offset of what it is at odds with, where that stands elsewhere. */
  readonly other?: number;
};

/** An error at an offset. */
export function fault(offset: number, code: string, summary: string, detail: string | null = null): Fault {
  return { severity: "error", code, summary, detail, offset };
}

/** A warning at an offset. */
export function warningFault(offset: number, code: string, summary: string, detail: string | null = null): Fault {
  return { severity: "warning", code, summary, detail, offset };
}

/** The fault of nesting beyond the limit. */
export function tooDeep(depth: number, offset: number): Fault {
  return fault(offset, "too-deep", `nested more than ${depth} levels deep`);
}

/** The fault of more values than the limit. */
export function tooManyNodes(nodes: number, offset: number): Fault {
  const detail = "Aliases count as often as they are used. Split the document.";
  return fault(offset, "too-many-nodes", `more than ${nodes} values in one document`, detail);
}

/** The fault of a key that stands twice in a mapping; `first` is where it stands first. */
export function duplicateKey(key: string, offset: number, first: number): Fault {
  return {
    ...fault(offset, "duplicate-key", `the key ${quoted(key)} is there twice`, "Keep one of them."),
    other: first,
  };
}

/** The most faults that are reported of one document. */
export const MAX_FAULTS = 100;

const MAX_QUOTED_LENGTH = 80;

/** A name as messages show it: in back quotes, shortened, with everything invisible escaped; a credential not at all. */
export function quoted(name: string): string {
  if (isCredential(name)) return MASK;
  const short = name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH)}…` : name;
  return `\`${escapeUnprintable(short).replaceAll("`", "\\u0060")}\``;
}
