import type { Json } from "../contract/json.ts";
import { type Fault, fault, quoted } from "./fault.ts";

/** Why a number would be read in a surprising way. */
type NumberTrouble = "octal-looking" | "unsafe-integer" | "not-finite";

/** A plain scalar by the YAML 1.2 core schema, or why it would be read in a surprising way. */
export type Scalar = { readonly is: "value"; readonly value: Json } | { readonly is: NumberTrouble };

const NUMBER_FAULTS: { readonly [trouble in NumberTrouble]: readonly [summary: string, detail: string] } = {
  "octal-looking": [
    "a number with a leading zero",
    'Quote it ("0755") if it is a name or a mode; write 0o755 for an octal number.',
  ],
  "unsafe-integer": ["an integer too large to be kept exactly", "Quote it if it is a name or an id."],
  "not-finite": ["a number that is not finite", "Manifests carry finite numbers only. Quote it if it is a name."],
};

/** The fault of a number that would be read in a surprising way. */
export function numberFault(trouble: NumberTrouble, offset: number): Fault {
  const [summary, detail] = NUMBER_FAULTS[trouble];
  return fault(offset, trouble, summary, detail);
}

/** What to write instead of such a number where a text may stand. */
export function numberRemedy(trouble: NumberTrouble, written: string): string {
  const text = `Write ${quoted(`"${written}"`)}`;
  if (trouble !== "octal-looking") return `${text}.`;
  const octal = /^0[0-7]+$/.test(written) ? `${quoted(`0o${written.slice(1)}`)} for an octal number, ` : "";
  return `${text}; ${octal}${quoted(String(Number(written)))} for a decimal number.`;
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
const RADIX = /^0(?:o[0-7]+|x[0-9a-fA-F]+)$/;
const OCTAL = /^[-+]?0\d/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** Resolves an unquoted scalar: `no`, `on` and dates are strings; inexact numbers are reported. */
export function resolvePlain(text: string): Scalar {
  const word = text.length <= 5 ? WORDS.get(text) : undefined;
  if (word !== undefined) return { is: "value", value: word };
  const first = text.charCodeAt(0);
  const isNumeric = (first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46;
  return isNumeric ? resolveNumeric(text) : { is: "value", value: text };
}

function resolveNumeric(text: string): Scalar {
  if (RADIX.test(text)) return safe(Number(text));
  if (NUMBER.test(text)) return OCTAL.test(text) ? { is: "octal-looking" } : safe(Number(text));
  return NOT_FINITE.test(text) ? { is: "not-finite" } : { is: "value", value: text };
}

function safe(number: number): Scalar {
  if (!Number.isFinite(number)) return { is: "not-finite" };
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return { is: "unsafe-integer" };
  // The control plane would return a minus zero as 0.
  return { is: "value", value: number === 0 ? 0 : number };
}
