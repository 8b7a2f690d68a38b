import { compareText, isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { isHarmlessName, isSecretName, isSecretText } from "./connection-secret.ts";
import { MASK } from "./credential.ts";

const SECRET_KEY =
  /pass(?:word|wd|phrase)?$|pwd|secret|token(?!i[sz])|credential|api[-_]?key|access[-_]?key|private[-_]?key|auth(?:orization)?$|(?:^|[-_])(?:dsn|salt|cookie|signature)$/i;

// `tokenizer` is not a token, and `max_tokens` and similar fields count tokens.
const HARMLESS_KEY = /^(?:max|min|num|total|n)[-_].*tokens?$|(?:fqn|_name|_path|_file|_url)$/i;

/** Whether a field's name marks its value as a secret. */
export function isSecretKey(name: string): boolean {
  return SECRET_KEY.test(name) && !HARMLESS_KEY.test(name) && !isHarmlessName(name);
}

/** Whether the whole value is a reference to a secret, which is not a secret itself. */
export function isSecretReference(value: Json | undefined): boolean {
  return typeof value === "string" && /^(?:[a-z][a-z0-9+.]*-)?secret:\/\/[\w.:-]+$/.test(value);
}

/** Whether outputs must mask a field: according to its schema, or by its name when no schema describes it. */
export function isSensitiveField(parent: Shape, field: Shape, name: string, ...owners: readonly unknown[]): boolean {
  if (field.is !== "object" && field.is !== "list" && field.sensitive === true) return true;
  const isUndescribed = parent.is === "object" && !Object.hasOwn(parent.fields, name);
  if (isUndescribed && parent.sensitive === true) return true;
  const isFree = parent.is === "free" || isUndescribed;
  return isFree && (isSecretKey(name) || owners.some((owner) => keepsSecret(owner, name)));
}

// Objects whose other fields describe the value: a Kubernetes Secret, or an environment variable with a secret name.
function keepsSecret(owner: unknown, name: string): boolean {
  if (!isObject(owner)) return false;
  return name === "value" ? isNamedSecret(owner) : /^(?:stringData|data)$/.test(name) && owner.kind === "Secret";
}

// Environment variables in patches have the form `{name: DB_PASSWORD, value: …}`.
function isNamedSecret({ name }: JsonObject): boolean {
  return typeof name === "string" && isSecretKey(name);
}

/** What is shown in place of a secret; `other` is what the compared value has in its place, if there is one. */
export type Mask = (hidden: Json, other: Json | undefined) => Json;

/** The value as outputs may show it: possible secrets are masked, references to secrets are not. */
export function redactValue(
  value: Json | undefined,
  sensitive = false,
  mask: Mask = () => MASK,
  compared?: Json,
): Json {
  if (value === undefined || value === null) return null;
  if (isSecretReference(value)) return value;
  if (sensitive) return mask(value, compared);
  if (typeof value === "string") return isSecretText(value) ? mask(value, compared) : value;
  if (Array.isArray(value)) {
    const others = Array.isArray(compared) ? compared : [];
    return value.map((item: Json, index) => redactValue(item, false, mask, others[index]));
  }
  if (!isObject(value)) return value;
  const others = isObject(compared) ? compared : null;
  return redactFields(value, { mask, compared: others }, (key, field) => {
    const hidden = isSecretKey(key) || keepsSecret(value, key);
    return redactValue(field, hidden, mask, others === null ? undefined : own(others, key));
  });
}

/** An object with sorted keys, its fields as `shownField` gives them. Keys that are secrets are masked and counted. */
export function redactFields(
  value: JsonObject,
  { mask, compared = null }: { readonly mask: Mask; readonly compared?: JsonObject | null },
  shownField: (key: string, field: Json) => Json,
): JsonObject {
  let hidden = 0;
  const shownKey = (key: string): string => {
    if (!isSecretName(key)) return key;
    const other = compared === null ? undefined : Object.hasOwn(compared, key) ? key : null;
    hidden += 1;
    return `${String(mask(key, other))}${hidden === 1 ? "" : ` ${hidden}`}`;
  };
  const keys = Object.keys(value).sort(compareText);
  return Object.fromEntries(keys.map((key) => [shownKey(key), shownField(key, value[key] ?? null)]));
}
