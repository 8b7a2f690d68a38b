import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { compareText } from "./diagnostic.ts";

/** What outputs show in place of a value that could be a secret. */
export const MASK = "(sensitive)";

const SECRET_KEY =
  /pass(?:word|wd|phrase)?$|pwd|secret|token|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth(?:orization)?$|(?:^|[-_])(?:dsn|salt|cookie|signature)$/i;

// Numbers such as `max_tokens` count tokens, they are none.
const HARMLESS_KEY = /^(?:max|min|num|total|n)[-_].*tokens?$|(?:fqn|_name|_path|_file|_url)$/i;

const CREDENTIAL_VALUES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bA[KS]IA[0-9A-Z]{16}\b/,
  // Telling enough to be known in the midst of other letters too.
  /gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22}/,
  /\bglpat-[A-Za-z0-9_-]{20,}/,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/,
  /\bAIza[A-Za-z0-9_-]{35}\b/,
  /\bsk-[A-Za-z0-9_-]{20,}/,
  /\bsk_live_[A-Za-z0-9]{20,}/,
  /\bhf_[A-Za-z0-9]{30,}\b/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bpypi-[A-Za-z0-9_-]{50,}/,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/,
  // Looked at from its first dot: from the start, a long text of beginnings alone would cost its length squared.
  /(?<=\beyJ[A-Za-z0-9_-]{8,})\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+/,
] as const;

/** No known credential is shorter than this. */
export const SHORTEST_CREDENTIAL = 15;

// One pass for all of them: every text of every manifest is looked at.
const CREDENTIAL = new RegExp(CREDENTIAL_VALUES.map(({ source }) => source).join("|"));

const URL_PASSWORD = /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@]{0,256}:[^\s/@]{1,256}@/i;

// The same names come again and again, and telling takes longer than looking up what was told.
const told = new Map<string, boolean>();
const MOST_TOLD = 4096;
const LONGEST_TOLD = 64;

/** Whether a field's name says that its value is a secret. */
export function isSecretKey(name: string): boolean {
  const known = told.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_KEY.test(name) && !HARMLESS_KEY.test(name);
  if (told.size < MOST_TOLD && name.length <= LONGEST_TOLD) told.set(name, isSecret);
  return isSecret;
}

/** Whether a text is in a known credential format: private keys, cloud keys, forge tokens, JWTs. */
export function isCredential(value: string): boolean {
  return CREDENTIAL.test(value);
}

/** A sentence without the credentials that it quotes. */
export function withoutCredentials(said: string): string {
  return isCredential(said) ? said.replaceAll(new RegExp(CREDENTIAL, "g"), MASK) : said;
}

/** Whether the whole value is a reference to a secret, which is no secret itself. */
export function isSecretReference(value: Json | undefined): boolean {
  return typeof value === "string" && /^(?:[a-z][a-z0-9+.]*-)?secret:\/\/[\w.:-]+$/.test(value);
}

/** Whether outputs must mask a field: by its schema's word, or by its name where the schema leaves the inside free. */
export function isSensitiveField(parent: Shape, field: Shape, name: string, ...owners: readonly unknown[]): boolean {
  if ("sensitive" in field && field.sensitive === true) return true;
  return parent.is === "free" && (isSecretKey(name) || owners.some((owner) => keepsSecret(owner, name)));
}

// What an object keeps is told by what it says of itself.
function keepsSecret(owner: unknown, name: string): boolean {
  if (!isObject(owner)) return false;
  return name === "value" ? isNamedSecret(owner) : /^(?:stringData|data)$/.test(name) && owner.kind === "Secret";
}

// `{name: DB_PASSWORD, value: …}` is how environment variables look in patches.
function isNamedSecret({ name }: JsonObject): boolean {
  return typeof name === "string" && isSecretKey(name);
}

/** The value as outputs may show it; what could be a secret inside is masked, references to secrets are not. */
export function redact(value: Json | undefined, sensitive = false, mask: (hidden: Json) => Json = () => MASK): Json {
  if (value === undefined || value === null) return null;
  if (isSecretReference(value)) return value;
  if (sensitive) return mask(value);
  if (typeof value === "string") return isCredential(value) || URL_PASSWORD.test(value) ? mask(value) : value;
  if (Array.isArray(value)) return value.map((item: Json) => redact(item, false, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([key, field]) => [key, redact(field, isSecretKey(key) || keepsSecret(value, key), mask)]),
  );
}
