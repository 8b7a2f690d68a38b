import { isObject, type Json } from "../contract/json.ts";
import type { ErrorDetail } from "../contract/resources.ts";
import { Secret } from "../contract/secret.ts";
import { badRequest, unprocessable } from "../http/refusal.ts";

const GROUP = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const MOST_FAULTS = 100;
const KEY = /^[A-Za-z0-9_.-]{1,128}$/;

/** A key and its value, as they are given to a new group. */
export type NewSecret = { readonly key: string; readonly value: Secret };

/** The secrets of a request for a new group, once its name, keys and values are found right. */
export function readSecrets(name: string, items: readonly Json[]): readonly NewSecret[] {
  const secrets = items.map(readSecret);
  const faults = [...groupFaults(name), ...secretFaults(secrets)];
  if (faults.length > 0) throw unprocessable(faults.slice(0, MOST_FAULTS));
  return secrets;
}

/** Splits `group/key`, the path of a secret in the builtin store; null when it is none. */
export function readSecretPath(path: string): { readonly group: string; readonly key: string } | null {
  const [group = "", key = "", ...rest] = path.split("/");
  return rest.length === 0 && GROUP.test(group) && KEY.test(key) ? { group, key } : null;
}

// The form of the request itself, so 400; what is wrong in it is told without the value.
function readSecret(item: Json, at: number): NewSecret {
  const pointer = `/secrets/${at}`;
  const { key, value, ...others } = isObject(item) ? item : {};
  if (typeof key === "string" && typeof value === "string" && Object.keys(others).length === 0) {
    return { key, value: new Secret(value) };
  }
  const message = "must be an object of the texts `key` and `value`";
  throw badRequest(`${pointer}: ${message}`, [{ pointer, message, code: "type" }]);
}

function groupFaults(name: string): readonly ErrorDetail[] {
  if (GROUP.test(name)) return [];
  const message = "must be 1 to 64 letters, digits, '-', '_' or '.', first a letter or digit";
  return [{ pointer: "/name", message, code: "form" }];
}

function secretFaults(secrets: readonly NewSecret[]): readonly ErrorDetail[] {
  const seen = new Set<string>();
  return secrets.flatMap(({ key, value }, at) => {
    const isKnown = seen.has(key);
    seen.add(key);
    return [...keyFaults(`/secrets/${at}/key`, key, isKnown), ...valueFaults(`/secrets/${at}/value`, value)];
  });
}

function keyFaults(pointer: string, key: string, isKnown: boolean): readonly ErrorDetail[] {
  if (!KEY.test(key)) return [{ pointer, message: "must be 1 to 128 letters, digits, '-', '_' or '.'", code: "form" }];
  return isKnown ? [{ pointer, message: "is given already", code: "duplicate" }] : [];
}

function valueFaults(pointer: string, value: Secret): readonly ErrorDetail[] {
  return value.open() === "" ? [{ pointer, message: "must not be empty", code: "empty" }] : [];
}
