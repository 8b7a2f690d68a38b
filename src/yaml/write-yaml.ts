import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { escapeJson } from "../model/unprintable.ts";
import { resolvePlain } from "./plain-scalar.ts";

/** An object as block YAML that readers of YAML 1.1 and 1.2 understand alike: a text is quoted where one of them needs it. */
export function yamlText(value: JsonObject): string {
  const fields = Object.keys(value).length === 0 ? "{}" : fieldLines(value, "");
  return `${fields}\n`;
}

function fieldLines(value: JsonObject, indent: string): string {
  return Object.entries(value)
    .map(([key, field]) => `${keyText(key)}:${valueAfter(field, `${indent}  `)}`)
    .join(`\n${indent}`);
}

function itemLines(items: readonly Json[], indent: string): string {
  return items.map((item) => `-${valueAfter(item, `${indent}  `, { isItem: true })}`).join(`\n${indent}`);
}

/** How a value is written. */
type Style = {
  /** Whether it is an item: its first field stands in the line of the dash. */
  readonly isItem?: boolean;
  /** The quotes of a text; null for those that it needs. */
  readonly quote?: "'" | '"' | null;
};

/** What follows the colon of a field or the dash of an item; `indent` is that of the lines below. */
export function valueAfter(value: Json, indent: string, { isItem = false, quote = null }: Style = {}): string {
  if (typeof value === "string") return ` ${valueText(value, indent, quote)}`;
  if (Array.isArray(value)) return value.length === 0 ? " []" : `\n${indent}${itemLines(value, indent)}`;
  if (!isObject(value)) return ` ${JSON.stringify(value)}`;
  if (Object.keys(value).length === 0) return " {}";
  return `${isItem ? " " : `\n${indent}`}${fieldLines(value, indent)}`;
}

/** A key as it stands before its colon. */
export function keyText(key: string): string {
  return isPlain(key) ? key : quotedText(key);
}

function valueText(text: string, indent: string, quote: "'" | '"' | null): string {
  if (quote === "'" && /^[ -~]*$/.test(text)) return `'${text.replaceAll("'", "''")}'`;
  if (quote === null && isPlain(text)) return text;
  return quote === null && BLOCK.test(text) ? blockText(text, indent) : quotedText(text);
}

// The characters that mean nothing in any place of a plain scalar; a colon means something before a space and at the end.
const PLAIN = /^[A-Za-z0-9_./](?:[\w./@+%=~,()$;'"!?*&<>^|-]|:(?=\S)| (?=[\w./@+%=~,($;'"]))*$/;
/** YAML 1.1 reads these as something else than a text. */
const OTHERWISE_READ = /^(?:y|n|yes|no|on|off|[\d_.:-]*|\d{4}-\d\d?-\d\d?.*|0b[01_]+|[\d._]+e[+-]?\d+)$/i;

function isPlain(text: string): boolean {
  if (!PLAIN.test(text) || OTHERWISE_READ.test(text)) return false;
  const read = resolvePlain(text);
  return read.is === "value" && read.value === text;
}

// Several lines without anything that would be lost or is invisible: tabs, spaces at an end, a first line that is indented.
const BLOCK = /^(?![ \n])(?:(?:[!-~][ -~]*)?[!-~]?\n)+(?:[!-~]|[!-~][ -~]*[!-~])?$/;

function blockText(text: string, indent: string): string {
  const body = text.endsWith("\n") ? text.slice(0, -1) : text;
  if (body.endsWith("\n")) return quotedText(text);
  const lines = body.split("\n").map((line) => (line === "" ? "" : indent + line));
  return [text.endsWith("\n") ? "|" : "|-", ...lines].join("\n");
}

// Every escape of JSON is one of YAML, which has no place for the two noncharacters.
function quotedText(text: string): string {
  return escapeJson(JSON.stringify(text)).replaceAll("\ufffe", "\\ufffe").replaceAll("\uffff", "\\uffff");
}

/** The same with a comment behind each value that is no object or list with content; null for none. */
export function annotatedYaml(value: JsonObject, commentOf: (pointer: string) => string | null): string {
  return `${annotatedFields(value, { indent: "", pointer: "", commentOf })}\n`;
}

type Annotated = {
  readonly indent: string;
  readonly pointer: string;
  readonly commentOf: (pointer: string) => string | null;
};

function annotatedFields(value: JsonObject, at: Annotated): string {
  return Object.entries(value)
    .map(([key, field]) => `${keyText(key)}:${annotatedValue(field, below(at, key), false)}`)
    .join(`\n${at.indent}`);
}

function annotatedValue(value: Json, at: Annotated, isItem: boolean): string {
  const { indent, pointer, commentOf } = at;
  if (Array.isArray(value) && value.length > 0) {
    const items = value.map((item: Json, index) => `-${annotatedValue(item, below(at, String(index)), true)}`);
    return `\n${indent}${items.join(`\n${indent}`)}`;
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    return `${isItem ? " " : `\n${indent}`}${annotatedFields(value, at)}`;
  }
  const [first = "", ...rest] = valueAfter(value, indent).split("\n");
  const comment = commentOf(pointer);
  return [comment === null ? first : `${first} # ${escapeJson(comment)}`, ...rest].join("\n");
}

function below({ indent, pointer, commentOf }: Annotated, name: string): Annotated {
  return { indent: `${indent}  `, pointer: `${pointer}/${escapePointer(name)}`, commentOf };
}
