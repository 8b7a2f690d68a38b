import { isObject, type Json } from "../contract/json.ts";
import { fieldName } from "./change.ts";
import { columnsOf, cutEnd, cutStart } from "./columns.ts";
import type { Paint } from "./paint.ts";
import { showValue } from "./value.ts";

const INDENT = "    ";
const MOST_LINES = 4;
const WIDEST_VALUE = 36;

/** What a create makes, in a few lines: its fields but for those that its name tells already. */
export function contentLines(
  content: Json,
  identity: string,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const named = new Set(identity.split(/[/@]/));
  const fields = fieldsOf(content, "").filter(({ label, text }) => label !== "type" && !named.has(text));
  const lines: string[] = [];
  let line = "";
  for (const [index, { label, text }] of fields.entries()) {
    const part = `${label} ${text}`;
    const next = line === "" ? part : `${line} · ${part}`;
    if (columnsOf(next) <= width - INDENT.length) line = next;
    else {
      if (lines.length === MOST_LINES - 1) {
        lines.push(line);
        line = `… and ${fields.length - index} more fields; -o json has all of them`;
        break;
      }
      if (line !== "") lines.push(line);
      line = cutEnd(part, width - INDENT.length);
    }
  }
  return [...lines, ...(line === "" ? [] : [line])].map((one) => INDENT + paint("dim", one));
}

type Field = { readonly label: string; readonly text: string };

function fieldsOf(value: Json, label: string): readonly Field[] {
  if (Array.isArray(value)) return [{ label: fieldName(label), text: listText(value) }];
  if (!isObject(value)) {
    const text = showValue(value);
    return [
      {
        label: fieldName(label),
        text: label.endsWith("_uri") ? cutStart(text, WIDEST_VALUE) : cutEnd(text, WIDEST_VALUE),
      },
    ];
  }
  return Object.entries(value)
    .filter(([name]) => name !== "type" || label === "")
    .flatMap(([name, field]) => fieldsOf(field, label === "" ? name : `${label}.${name}`));
}

function listText(value: readonly Json[]): string {
  const isShort = value.every((item) => typeof item !== "object") && value.length <= 3;
  if (isShort) return cutEnd(value.map(showValue).join(", "), WIDEST_VALUE);
  return `${value.length} ${value.length === 1 ? "item" : "items"}`;
}
