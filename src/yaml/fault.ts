import { isSecretText } from "../model/connection-secret.ts";
import { MASK } from "../model/credential.ts";
import { escapeUnprintable } from "../model/unprintable.ts";

/** An error or warning at an offset in a text (UTF-16 code units from 0). */
export type Fault = {
  readonly severity: "error" | "warning";
  readonly code: string;
  /** One line. Never contains a value of the text or a parser's own message. */
  readonly summary: string;
  readonly detail: string | null;
  readonly offset: number;
  /** Offset of the text that it conflicts with, when that is elsewhere. */
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

/** The fault of a duplicate key; `first` is the offset of its first occurrence. */
export function duplicateKey(key: string, offset: number, first: number): Fault {
  return {
    ...fault(offset, "duplicate-key", `the key ${quoted(key)} occurs twice`, "Keep one of them."),
    other: first,
  };
}

/** The maximum number of faults reported per document. */
export const MAX_FAULTS = 100;

const MAX_QUOTED_LENGTH = 80;

/** A name as messages show it: in back quotes, shortened, with invisible characters escaped. A credential is masked. */
export function quoted(name: string): string {
  if (isSecretText(name)) return MASK;
  const short = name.length > MAX_QUOTED_LENGTH ? `${name.slice(0, MAX_QUOTED_LENGTH)}…` : name;
  return `\`${escapeUnprintable(short).replaceAll("`", "\\u0060")}\``;
}
