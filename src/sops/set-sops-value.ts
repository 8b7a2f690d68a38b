import { isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { Secret } from "../contract/secret.ts";
import { editDocument } from "../yaml/edit-document.ts";
import { quoted } from "../yaml/fault.ts";
import { yamlText } from "../yaml/write-yaml.ts";
import type { AgeIdentities } from "./age-identities.ts";
import type { CreationRule } from "./creation-rule.ts";
import { encryptDataKey } from "./data-key.ts";
import { encryptValue, newDataKey } from "./encrypted-value.ts";
import { compileRule, type IsEncrypted } from "./encryption-rule.ts";
import { type ParsedSopsFile, parseSopsFile } from "./parse-sops-file.ts";
import { decryptLeaves, macOf, type UnlockedSopsFile, unlock, valuePlace } from "./read-sops-value.ts";
import { SopsError } from "./sops-error.ts";

/** A value to be set in a SOPS file. */
export type NewSopsValue = {
  /** Names the file in messages, and tells its format. */
  readonly file: string;
  /** The keys on the way to the value. */
  readonly keys: readonly string[];
  readonly value: Secret;
  /** The time of the change, in milliseconds. */
  readonly now: number;
};

/** The text of a file with the value. */
export type SopsFileWithValue = {
  /** Null where the file has this value already. */
  readonly text: string | null;
  readonly recipients: readonly string[];
};

/** The text of a new SOPS file with one value, encrypted for the recipients of its creation rule. */
export async function createSopsFile(given: NewSopsValue, creation: CreationRule): Promise<SopsFileWithValue> {
  const { file, keys, value } = given;
  const { recipients, otherServices, rule, macOnlyEncrypted } = creation;
  requireTree(file);
  if (otherServices.length > 0) {
    const what = `${creation.file} names ${otherServices.join(", ")}, for which only sops can encrypt`;
    throw new SopsError("not-writable", `${file}: ${what}`, "make the file with sops, then set values of it");
  }
  requireEncrypted(await compileRule(rule, creation.file), given);
  const dataKey = newDataKey();
  const mac = macOf(macOnlyEncrypted);
  mac.add(Buffer.from(value.open(), "utf8"));
  const lastmodified = timeOf(given);
  const sops = {
    age: (await encryptDataKey(dataKey, recipients, creation.file)).map((entry) => ({ ...entry })),
    lastmodified,
    mac: encryptValue(mac.digest(), dataKey, lastmodified),
    ...fieldsOf(creation),
    version: FORMAT,
  };
  const content = { ...nest(keys, encryptValue(value.open(), dataKey, valuePlace(keys))), sops };
  const text = /\.json$/i.test(file) ? `${JSON.stringify(content, null, 2)}\n` : yamlText(content);
  return { text, recipients };
}

/** The release of SOPS whose format is written. */
const FORMAT = "3.9.0";

/**
 * The text of a SOPS file in which one value is set. All else of the text stays as it is, the MAC and its time aside. The
 * identity is needed, since a file has one key for all of its values.
 */
export async function changeSopsFile(
  bytes: Uint8Array,
  given: NewSopsValue,
  identities: AgeIdentities | null,
): Promise<SopsFileWithValue> {
  const { file, keys, value } = given;
  requireTree(file);
  const parsed = await parseSopsFile(bytes, file);
  const unlocked = await unlock(parsed, file, identities);
  const recipients = unlocked.metadata.age.map(({ recipient }) => recipient);
  requireEncrypted(unlocked.isEncrypted, given);
  const pointer = pointerOf(keys);
  if (unlocked.values.get(pointer)?.open() === value.open()) return { text: null, recipients };
  const encrypted = encryptValue(value.open(), unlocked.dataKey, valuePlace(keys));
  const changed = await parseSopsFile(Buffer.from(withValue(parsed, given, encrypted)), file);
  const text = withMac(changed, given, unlocked);
  // What is written must be what is read.
  const written = await unlock(await parseSopsFile(Buffer.from(text), file), file, identities);
  if (written.values.get(pointer)?.open() !== value.open()) throw cannotBeChanged(file);
  return { text: Buffer.from(bytes).includes("\r\n") ? text.replaceAll("\n", "\r\n") : text, recipients };
}

function requireTree(file: string): void {
  if (/\.(?:ya?ml|json)$/i.test(file)) return;
  const hint = "name a file that ends with .yaml, .yml or .json";
  throw new SopsError("not-writable", `${file}: values are written to YAML and JSON alone`, hint);
}

function requireEncrypted(isEncrypted: IsEncrypted, { file, keys }: NewSopsValue): void {
  if (isEncrypted(keys)) return;
  const hint = "use another key, or another rule in .sops.yaml";
  throw new SopsError(
    "not-writable",
    `${file}: by its rule, the value of ${quoted(pointerOf(keys))} would stand in clear text`,
    hint,
  );
}

// Before the member of SOPS, which is last by custom.
function withValue(parsed: ParsedSopsFile, { file, keys }: NewSopsValue, encrypted: string): string {
  const { text, value, memberAt, format, line } = parsed;
  if (format === "dotenv") throw cannotBeChanged(file);
  const after = merged(value, keys, encrypted, file);
  const isNew = keys[0] !== undefined && !Object.hasOwn(value, keys[0]);
  const isLine = memberAt !== null && (memberAt === 0 || text[memberAt - 1] === "\n");
  if (isNew && isLine && format === "yaml") {
    return text.slice(0, memberAt) + yamlText(nest(keys, encrypted)) + text.slice(memberAt);
  }
  const edited = editDocument(text, format, { line, before: value, after });
  if (edited === null) throw cannotBeChanged(file);
  return edited;
}

function withMac(changed: ParsedSopsFile, given: NewSopsValue, unlocked: UnlockedSopsFile): string {
  const { text, value, format, line, leaves } = changed;
  const { sops } = value;
  const { mac } = decryptLeaves(leaves, { ...unlocked, file: given.file });
  const lastmodified = timeOf(given);
  const member = { lastmodified, mac: encryptValue(mac, unlocked.dataKey, lastmodified) };
  const after = { ...value, sops: { ...(isObject(sops) ? sops : {}), ...member } };
  const edited = format === "dotenv" ? null : editDocument(text, format, { line, before: value, after });
  if (edited === null) throw cannotBeChanged(given.file);
  return edited;
}

function cannotBeChanged(file: string): SopsError {
  return new SopsError(
    "not-writable",
    `${file}: the text of the file cannot be changed in place`,
    "use `sops edit` or `sops set`",
  );
}

function merged(
  object: JsonObject,
  keys: readonly string[],
  value: string,
  file: string,
  above: readonly string[] = [],
): JsonObject {
  const [key = "", ...rest] = keys;
  const before = own(object, key);
  if (rest.length === 0) {
    if (isObject(before) || Array.isArray(before)) throw taken(file, [...above, key], "is a mapping or a list");
    return { ...object, [key]: value };
  }
  if (before !== undefined && !isObject(before)) throw taken(file, [...above, key], "is no mapping");
  return { ...object, [key]: merged(before ?? {}, rest, value, file, [...above, key]) };
}

function taken(file: string, keys: readonly string[], what: string): SopsError {
  return new SopsError(
    "not-writable",
    `${file}: ${quoted(pointerOf(keys))} ${what}`,
    "name another file with --into, or another group or key",
  );
}

function nest(keys: readonly string[], value: string): JsonObject {
  return keys.reduceRight<Json>((inside, key) => ({ [key]: inside }), value) as JsonObject;
}

function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${escapePointer(key)}`).join("");
}

// SOPS has no fractions of seconds.
function timeOf({ now }: NewSopsValue): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}

function fieldsOf({ rule, macOnlyEncrypted }: CreationRule): JsonObject {
  const { unencryptedSuffix, encryptedSuffix, unencryptedRegex, encryptedRegex } = rule;
  return {
    ...(unencryptedSuffix !== undefined && { unencrypted_suffix: unencryptedSuffix }),
    ...(encryptedSuffix !== undefined && { encrypted_suffix: encryptedSuffix }),
    ...(unencryptedRegex !== undefined && { unencrypted_regex: unencryptedRegex }),
    ...(encryptedRegex !== undefined && { encrypted_regex: encryptedRegex }),
    ...(macOnlyEncrypted && { mac_only_encrypted: true }),
  };
}
