import { createHash, timingSafeEqual } from "node:crypto";
import { isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import { escapePointer, pointerTokens } from "../contract/json-pointer.ts";
import { Secret } from "../contract/secret.ts";
import { quoted } from "../yaml/fault.ts";
import { type AgeIdentities, GIVE_IDENTITY } from "./age-identities.ts";
import { decryptDataKey } from "./data-key.ts";
import { countedBytes, decryptValue, isEncryptedText, type SopsScalar } from "./encrypted-value.ts";
import { compileRule, type IsEncrypted } from "./encryption-rule.ts";
import { type ParsedSopsFile, parseSopsFile, type SopsLeaf } from "./parse-sops-file.ts";
import { SopsError, type SopsFault } from "./sops-error.ts";
import { readMetadata, type SopsMetadata } from "./sops-metadata.ts";
import { decryptByProgram, type SopsProgram } from "./sops-program.ts";

/** A SOPS file to be read: its content, and its path, which tells its format and names it in messages. */
export type SopsSource = { readonly file: string; readonly bytes: Uint8Array };

/** A SOPS file whose values are decrypted and verified; they are in memory alone. */
export type OpenedSopsFile = {
  /**
   * The decrypted value of a key: names with dots between them (`db.password`), or, where it begins with a slash, a JSON
   * Pointer. Numbers and booleans are given as text. Throws a `SopsError` where there is none, and where it stands in clear text.
   */
  readonly value: (key: string) => Secret;
};

/**
 * Reads one value of a SOPS file whose data key is encrypted for an age recipient. The whole file is decrypted in memory and
 * its MAC verified before anything of it is given. Throws a `SopsError`, whose message has no value of the file.
 * Identities come from `loadAgeIdentities`; for several values of one file, use `openSopsFile`.
 */
export async function readSopsValue(
  source: SopsSource,
  key: string,
  identities: AgeIdentities | null,
): Promise<Secret> {
  return (await openSopsFile(source, identities)).value(key);
}

/**
 * Decrypts and verifies a SOPS file with an age identity; where none fits, with the program, if the operator has named one.
 */
export async function openSopsFile(
  { file, bytes }: SopsSource,
  identities: AgeIdentities | null,
  program: SopsProgram | null = null,
): Promise<OpenedSopsFile> {
  const parsed = await parseSopsFile(bytes, file);
  const values = await valuesOf(parsed, file, { identities, program });
  return { value: (key) => pick(parsed, values, { file, key }) };
}

type Keys = { readonly identities: AgeIdentities | null; readonly program: SopsProgram | null };

async function valuesOf(
  parsed: ParsedSopsFile,
  file: string,
  { identities, program }: Keys,
): Promise<ReadonlyMap<string, Secret>> {
  try {
    return (await unlock(parsed, file, identities)).values;
  } catch (error) {
    const lacksKey = error instanceof SopsError && LACK_OF_KEY.includes(error.fault);
    if (program === null || !lacksKey) throw error;
    return valuesByProgram(parsed, file, program);
  }
}

const LACK_OF_KEY: readonly SopsFault[] = ["no-identity", "wrong-identity", "unsupported"];

// Of what the program gives, only those values that stand encrypted in the file.
async function valuesByProgram(
  parsed: ParsedSopsFile,
  file: string,
  program: SopsProgram,
): Promise<ReadonlyMap<string, Secret>> {
  const whole = await decryptByProgram(parsed, file, program);
  return new Map(
    parsed.leaves.flatMap(({ pointer, value }): (readonly [string, Secret])[] => {
      const found = isEncryptedText(value) ? valueAt(whole, pointer) : undefined;
      return found === undefined || found === null || typeof found === "object"
        ? []
        : [[pointer, new Secret(String(found))]];
    }),
  );
}

function valueAt(whole: Json, pointer: string): Json | undefined {
  return pointerTokens(pointer).reduce<Json | undefined>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)];
    return isObject(value) ? own(value, name) : undefined;
  }, whole);
}

/** A file whose data key is known, and its decrypted values by their pointers; those in clear text are not among them. */
export type UnlockedSopsFile = {
  readonly metadata: SopsMetadata;
  readonly isEncrypted: IsEncrypted;
  readonly dataKey: Uint8Array;
  readonly values: ReadonlyMap<string, Secret>;
};

/** Decrypts the data key and all values of a file, and verifies its MAC. */
export async function unlock(
  parsed: ParsedSopsFile,
  file: string,
  identities: AgeIdentities | null,
): Promise<UnlockedSopsFile> {
  const metadata = readMetadata(parsed.value.sops, file);
  const isEncrypted = await compileRule(metadata.rule, file);
  requireAge(metadata, file);
  if (identities === null) {
    throw new SopsError("no-identity", `${file}: no age identity was given to decrypt it`, GIVE_IDENTITY);
  }
  const dataKey = await decryptDataKey(metadata.age, identities, file);
  const { values, mac } = decryptLeaves(parsed.leaves, { file, metadata, isEncrypted, dataKey });
  requireMac(mac, { file, metadata, dataKey });
  return { metadata, isEncrypted, dataKey, values };
}

function requireAge({ age, otherServices, isSplit }: SopsMetadata, file: string): void {
  const hint = "add an age recipient to .sops.yaml, and run `sops updatekeys`";
  if (isSplit) throw new SopsError("unsupported", `${file}: its data key is split among groups of keys`, hint);
  if (age.length > 0) return;
  const named = otherServices.length === 0 ? "no keys" : `keys of ${otherServices.join(", ")} alone`;
  throw new SopsError("unsupported", `${file}: it has ${named}, and no age recipient`, hint);
}

type Unlocking = {
  readonly file: string;
  readonly metadata: SopsMetadata;
  readonly isEncrypted: IsEncrypted;
  readonly dataKey: Uint8Array;
};

/** Decrypts the values of a file, and computes their MAC. */
export function decryptLeaves(
  leaves: readonly SopsLeaf[],
  { file, metadata, isEncrypted, dataKey }: Unlocking,
): { readonly values: ReadonlyMap<string, Secret>; readonly mac: string } {
  const values = new Map<string, Secret>();
  const mac = macOf(metadata.macOnlyEncrypted);
  for (const { pointer, keys, value } of leaves) {
    if (!isEncrypted(keys)) {
      if (!metadata.macOnlyEncrypted) mac.add(countedBytes(value));
      continue;
    }
    const found = decrypted(value, dataKey, valuePlace(keys));
    if (found === null) {
      const isClear = typeof value !== "string" || !value.startsWith("ENC[");
      const what = isClear ? "should be encrypted, and stands in clear text" : "was changed, moved or cut off";
      throw new SopsError(
        "damaged",
        `${file}: the value of ${quoted(pointer)} ${what}`,
        "restore the file from git, or edit it with sops",
      );
    }
    values.set(pointer, new Secret(found.text));
    if (found.counted !== null) mac.add(found.counted);
  }
  return { values, mac: mac.digest() };
}

// SOPS leaves an empty text as it is.
function decrypted(value: SopsScalar, key: Uint8Array, place: string) {
  if (value === "") return { text: "", counted: Buffer.alloc(0) };
  return typeof value === "string" ? decryptValue(value, key, place) : null;
}

/** The place of a value as its encryption has it. */
export function valuePlace(keys: readonly string[]): string {
  return `${keys.join(":")}:`;
}

// SHA-256 of `sops`, so that a MAC of encrypted values alone is never that of all values.
const ONLY_ENCRYPTED = createHash("sha256").update("sops").digest();

/** Computes the MAC of a file from its values, in their order. */
export function macOf(onlyEncrypted: boolean): { add: (bytes: Uint8Array) => void; digest: () => string } {
  const hash = createHash("sha512");
  if (onlyEncrypted) hash.update(ONLY_ENCRYPTED);
  return { add: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex").toUpperCase() };
}

function requireMac(computed: string, { file, metadata, dataKey }: Omit<Unlocking, "isEncrypted">): void {
  const stored = decryptValue(metadata.mac, dataKey, metadata.lastModified)?.text;
  const hint = "restore the file from git; after an intended change by hand, `sops edit --ignore-mac` writes a new one";
  if (stored === undefined) {
    throw new SopsError("mac", `${file}: its MAC or its time was changed (\`sops.mac\`, \`sops.lastmodified\`)`, hint);
  }
  const [is, was] = [Buffer.from(computed), Buffer.from(stored)];
  if (is.length === was.length && timingSafeEqual(is, was)) return;
  throw new SopsError("mac", `${file}: its MAC does not match: a value was changed, added, removed or moved`, hint);
}

// A name may have dots itself, such as `tls.crt`.
function pointerOfKey(key: string, leaves: readonly SopsLeaf[]): string {
  if (key.startsWith("/")) return key;
  const whole = `/${escapePointer(key)}`;
  if (leaves.some(({ pointer }) => pointer === whole)) return whole;
  return key
    .split(".")
    .map((name) => `/${escapePointer(name)}`)
    .join("");
}

function pick(
  { leaves, value: whole }: ParsedSopsFile,
  values: ReadonlyMap<string, Secret>,
  { file, key }: { readonly file: string; readonly key: string },
): Secret {
  const pointer = pointerOfKey(key, leaves);
  const found = values.get(pointer);
  if (found !== undefined && found.open() !== "") return found;
  if (found !== undefined)
    throw new SopsError("no-value", `${file}: the value of ${quoted(key)} is empty`, `set one: holdfast secret set`);
  const leaf = leaves.find((one) => one.pointer === pointer);
  if (leaf !== undefined && isEncryptedText(leaf.value)) {
    throw new SopsError(
      "no-value",
      `${file}: the value of ${quoted(key)} was not decrypted`,
      "try it by hand with sops",
    );
  }
  if (leaf !== undefined) {
    const hint = "encrypt it with sops: a key of another name, or another rule in .sops.yaml";
    throw new SopsError("not-encrypted", `${file}: the value of ${quoted(key)} stands in clear text`, hint);
  }
  const isMapping = leaves.some((leaf) => leaf.pointer.startsWith(`${pointer}/`));
  const what = isMapping ? "is a mapping or a list, not a value" : "is not there";
  throw new SopsError("no-value", `${file}: the key ${quoted(key)} ${what}`, keysHint(whole));
}

function keysHint(whole: JsonObject): string {
  const names = Object.keys(whole).filter((name) => name !== "sops");
  return names.length === 0
    ? "it has no keys"
    : `its keys are ${names.slice(0, 5).map(quoted).join(", ")}${names.length > 5 ? ", …" : ""}`;
}
