import { isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import type { Format } from "../yaml/document.ts";
import { quoted } from "../yaml/fault.ts";
import type { FieldOffsets } from "../yaml/field-offsets.ts";
import { defaultYamlLimits } from "../yaml/limits.ts";
import { lineFinder } from "../yaml/locator.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { dotenvMetadata, METADATA_PREFIX, parseDotenv } from "./dotenv-file.ts";
import type { SopsScalar } from "./encrypted-value.ts";
import { SopsError } from "./sops-error.ts";

/** A value of a file that is neither a mapping, a list nor null. */
export type SopsLeaf = {
  readonly pointer: string;
  /** The keys on the way to it; positions in lists do not count. */
  readonly keys: readonly string[];
  readonly value: SopsScalar;
};

/** A SOPS file as it is stored, its values still encrypted. */
export type ParsedSopsFile = {
  readonly format: Format | "dotenv";
  /** Its text, with line feeds alone. */
  readonly text: string;
  /** Its values in their order, the `sops` member aside. */
  readonly leaves: readonly SopsLeaf[];
  /** All of it, the `sops` member included. */
  readonly value: JsonObject;
  /** The first line of its content, from 1. */
  readonly line: number;
  /** Where its `sops` member begins in the text; null if it has none. */
  readonly memberAt: number | null;
};

/** Parses a SOPS file within the limits of manifests; `file` names it in messages. */
export async function parseSopsFile(bytes: Uint8Array, file: string): Promise<ParsedSopsFile> {
  const limit = defaultYamlLimits.fileBytes;
  if (bytes.length > limit) {
    throw new SopsError("too-large", `${file}: it is larger than ${limit / 1024} KiB`, "split it");
  }
  if (/\.env$/i.test(file) || /(?:^|\/)\.env(?:\.[^/]*)?$/i.test(file)) return parseVariables(bytes, file);
  const format: Format = /\.json$/i.test(file) ? "json" : "yaml";
  await using exact = new ExactProcess();
  const options = { format, limits: defaultYamlLimits, worthy: null };
  const { text, faults, documents } = await readYaml(withLineFeeds(bytes), options, exact);
  const found = [...faults, ...documents.flatMap((document) => document.faults)].find(
    ({ severity }) => severity === "error",
  );
  const positionAt = lineFinder(text);
  if (found !== undefined) {
    const { line, column } = positionAt(found.offset);
    throw malformed(`${file}:${line}:${column}`, found.summary, found.detail ?? undefined);
  }
  const [document, second] = documents;
  if (second !== undefined) throw malformed(file, "it has several documents", "write one file for each");
  const value = document?.value;
  const offsets = document?.fieldOffsets() ?? null;
  if (!isObject(value) || document === undefined || offsets === null)
    throw malformed(file, "it is no mapping of keys to values");
  const refuseAlias = ({ value: at }: FieldOffsets): void => {
    if (text[at] !== "*") return;
    const { line, column } = positionAt(at);
    throw malformed(`${file}:${line}:${column}`, "an alias", "write the value in both places: sops writes no aliases");
  };
  return {
    format,
    text,
    value,
    leaves: leavesOf(value, offsets, refuseAlias),
    line: positionAt(document.offset).line,
    memberAt: offsets.inside?.get("sops")?.key ?? null,
  };
}

function malformed(place: string, what: string, hint = "restore the file from git"): SopsError {
  return new SopsError("malformed", escapeUnprintable(`${place}: ${what}`), hint);
}

// A checkout may have turned the ends of lines around.
function withLineFeeds(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return text.includes("\r\n") ? Buffer.from(text.toString("latin1").replaceAll("\r\n", "\n"), "latin1") : bytes;
}

// In the order of the text: JavaScript puts keys that look like numbers first.
function leavesOf(
  value: JsonObject,
  offsets: FieldOffsets,
  refuseAlias: (offsets: FieldOffsets) => void,
): readonly SopsLeaf[] {
  const walk = (one: Json, place: FieldOffsets, pointer: string, keys: readonly string[]): readonly SopsLeaf[] => {
    refuseAlias(place);
    if (one === null) return [];
    if (!isObject(one) && !Array.isArray(one)) return [{ pointer, keys, value: one as SopsScalar }];
    const inside = [...(place.inside ?? [])].toSorted(([, a], [, b]) => a.key - b.key);
    return inside.flatMap(([name, field]) => {
      const next = Array.isArray(one) ? one[Number(name)] : own(one as JsonObject, name);
      const below = Array.isArray(one) ? keys : [...keys, name];
      return walk(next ?? null, field, `${pointer}/${escapePointer(name)}`, below);
    });
  };
  return walk(value, offsets, "", []).filter(({ keys }) => keys[0] !== "sops");
}

function parseVariables(bytes: Uint8Array, file: string): ParsedSopsFile {
  const text = Buffer.from(withLineFeeds(bytes)).toString("utf8");
  const entries = parseDotenv(text);
  if ("line" in entries) throw malformed(`${file}:${entries.line}`, "neither a variable nor a comment");
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw malformed(file, `the key ${quoted(twice)} occurs twice`, "keep one of them");
  const set = entries.filter(({ name }) => !name.startsWith(METADATA_PREFIX));
  const metadata = dotenvMetadata(entries);
  const leaves = set.map(({ name, value }) => ({ pointer: `/${escapePointer(name)}`, keys: [name], value }));
  const values = Object.fromEntries(set.map(({ name, value }) => [name, value]));
  const sops = metadata.size === 0 ? {} : { sops: nested(metadata) };
  return { format: "dotenv", text, leaves, value: { ...values, ...sops }, line: 1, memberAt: null };
}

// SOPS writes the fields of its member as variables of their own, in which all values are texts.
function nested(fields: ReadonlyMap<string, string>): JsonObject {
  const plain: { [name: string]: Json } = {};
  const lists = new Map<string, Map<string, { [field: string]: Json }>>();
  for (const [path, value] of fields) {
    const [name = "", at, field] = path.split("/");
    if (at === undefined || field === undefined) plain[name] = value === "true" ? true : value;
    else {
      const list = lists.get(name) ?? new Map<string, { [field: string]: Json }>();
      lists.set(name, list.set(at, { ...list.get(at), [field]: value }));
    }
  }
  return { ...plain, ...Object.fromEntries([...lists].map(([name, list]) => [name, [...list.values()]])) };
}
