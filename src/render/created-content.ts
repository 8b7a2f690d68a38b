import { isObject, type Json } from "../contract/json.ts";
import { fieldName } from "./change.ts";
import { grantLines, grantsIn } from "./grants.ts";
import type { Paint } from "./paint.ts";
import { showValue } from "./show-value.ts";
import { cutEnd, cutStart } from "./text-width.ts";
import { packIntoLines } from "./wrap.ts";

const INDENT = "    ";
const MAX_LINES = 4;
const WIDEST_VALUE = 36;

/** The content of a create in a few lines: its fields, except those that its name already contains. */
export function contentLines(
  content: Json,
  identity: string,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const { grants, rest: others } = grantsIn(content);
  const columns = width - INDENT.length;
  const rest = (left: number): string => `… and ${left} more fields; -o json has all of them`;
  const lines = packIntoLines([...contentFields(others, identity)], { columns, mostLines: MAX_LINES, rest });
  return [
    ...lines.map((line) => INDENT + paint("dim", line)),
    ...grants.flatMap((grant) => grantLines("+", grant, { indent: INDENT, paint, width })),
  ];
}

/** The fields of a created resource, each with its value, except those that its name already contains. */
export function* contentFields(content: Json, identity: string): Generator<string> {
  const named = new Set([...identity.split(/[/@]/), ...identity.split(/[/@:]/)]);
  for (const { label, text } of fieldsOf(content, "")) {
    if (label !== "type" && !named.has(text)) yield `${label} ${text}`;
  }
}

function* fieldsOf(value: Json, label: string): Generator<{ readonly label: string; readonly text: string }> {
  if (Array.isArray(value)) yield { label: fieldName(label), text: listText(value) };
  else if (!isObject(value)) yield { label: fieldName(label), text: valueText(value, label) };
  else {
    for (const [name, field] of Object.entries(value)) {
      if (name !== "type" || label === "") yield* fieldsOf(field, label === "" ? name : `${label}.${name}`);
    }
  }
}

function valueText(value: Json, label: string): string {
  const text = showValue(value);
  return label.endsWith("_uri") ? cutStart(text, WIDEST_VALUE) : cutEnd(text, WIDEST_VALUE);
}

function listText(value: readonly Json[]): string {
  const isShort = value.every((item) => typeof item !== "object") && value.length <= 3;
  if (isShort) return cutEnd(value.map(showValue).join(", "), WIDEST_VALUE);
  return `${value.length} ${value.length === 1 ? "item" : "items"}`;
}
