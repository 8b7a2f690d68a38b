import type { ErrorDetail } from "../../../contract/generated/resources.ts";
import { isObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { escapePointer } from "../../../contract/json-pointer.ts";
import { Secret } from "../../../contract/secret.ts";
import { malformed, unprocessable } from "../../../http/http-error.ts";

const GROUP = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
// As in the schemas of other resources with collaborators.
const MAX_COLLABORATORS = 1000;
const SUBJECT =
  /^(?:user:[!-9;-?A-~]{1,64}@[!-9;-?A-~]{1,190}|(?:team|virtualaccount):[A-Za-z0-9][A-Za-z0-9_.-]{0,63})$/;
// The secret store is named as operation 4 does, or as manifests name other integrations.
const STORE = "integration_fqn";
const KEY = /^[A-Za-z0-9_.-]{1,128}$/;

/** A key and its value in a request. */
export type NewSecret = { readonly key: string; readonly value: Secret };

/** Reads and validates the secrets of a request for a new group. */
export function readSecrets(name: string, items: readonly Json[]): readonly NewSecret[] {
  const secrets = items.map(readSecret);
  const faults = [...groupFaults(name), ...secretFaults(secrets)];
  if (faults.length > 0) throw unprocessable(faults);
  return secrets;
}

const members: readonly string[] = ["type", "name", "integrationId", STORE, "secrets", "collaborators"];

/** Reads a manifest of type `secret-group`, or refuses it with all errors; no error shows a value. */
export function readGroupManifest(
  manifest: JsonObject,
  unknownFields: "refuse" | "allow",
): {
  readonly name: string;
  /** The secret store; null when it is not given. */
  readonly integrationId: string | null;
  readonly secrets: readonly NewSecret[];
  /** Who may use it. */
  readonly collaborators: readonly JsonObject[];
} {
  const { type, name, integrationId = manifest[STORE], secrets, collaborators } = manifest;
  const isTwice = manifest.integrationId !== undefined && (manifest[STORE] ?? integrationId) !== integrationId;
  if (type !== "secret-group") throw unprocessable([fault("/type", "must be `secret-group`", "type")]);
  const given = Array.isArray(secrets) ? secrets.map(manifestSecret) : [];
  const known = given.filter((secret) => secret !== null);
  const faults = [
    ...(typeof name === "string" ? groupFaults(name) : [fault("/name", "is required, as text", "required")]),
    ...(typeof (integrationId ?? "") === "string" ? [] : [fault("/integrationId", "must be text", "type")]),
    ...(isTwice ? [fault(`/${STORE}`, "differs from `integrationId`", "inconsistent")] : []),
    ...(Array.isArray(secrets) ? [] : [fault("/secrets", "is required, as a list", "required")]),
    ...(Array.isArray(secrets) ? secrets.flatMap(secretForm) : []),
    // Malformed items are left out, so the indexes of the others would be wrong.
    ...(known.length === given.length ? secretFaults(known) : []),
    ...collaboratorFaults(collaborators ?? []),
    ...(unknownFields === "allow" ? [] : unknownMembers(manifest, members)),
  ];
  if (faults.length > 0) throw unprocessable(faults);
  return {
    name: String(name),
    integrationId: typeof integrationId === "string" ? integrationId : null,
    secrets: known,
    collaborators: Array.isArray(collaborators) ? collaborators.filter(isObject) : [],
  };
}

/** Splits `group/key`, the path of a secret in the builtin store; null when it is malformed. */
export function readSecretPath(path: string): { readonly group: string; readonly key: string } | null {
  const [group = "", key = "", ...rest] = path.split("/");
  return rest.length === 0 && GROUP.test(group) && KEY.test(key) ? { group, key } : null;
}

// A malformed request is 400; the error does not show the value.
function readSecret(item: Json, at: number): NewSecret {
  const secret = manifestSecret(item);
  if (secret !== null) return secret;
  throw malformed(secretForm(item, at));
}

function manifestSecret(item: Json): NewSecret | null {
  const { key, value, ...others } = isObject(item) ? item : {};
  const isRight = typeof key === "string" && typeof value === "string" && Object.keys(others).length === 0;
  return isRight ? { key, value: new Secret(value) } : null;
}

function collaboratorFaults(collaborators: Json): readonly ErrorDetail[] {
  if (!Array.isArray(collaborators) || collaborators.length > MAX_COLLABORATORS) {
    return [fault("/collaborators", `must be a list of at most ${MAX_COLLABORATORS}`, "type")];
  }
  return collaborators.flatMap((item: Json, at) =>
    isCollaborator(item)
      ? []
      : [
          fault(
            `/collaborators/${at}`,
            "must be an object of `subject` (user:<e-mail>, team:<name> or virtualaccount:<name>, in ASCII) and `role_id`",
            "type",
          ),
        ],
  );
}

function isCollaborator(item: Json): boolean {
  const { subject, role_id: role, ...others } = isObject(item) ? item : {};
  return (
    typeof subject === "string" &&
    SUBJECT.test(subject) &&
    typeof role === "string" &&
    role !== "" &&
    role.length <= 128 &&
    Object.keys(others).length === 0
  );
}

/** The errors in the form of a secret, each at its member. */
function secretForm(item: Json, at: number): readonly ErrorDetail[] {
  const pointer = `/secrets/${at}`;
  if (!isObject(item)) return [fault(pointer, "must be an object of the texts `key` and `value`", "type")];
  const wrong = ["key", "value"].filter((name) => typeof item[name] !== "string");
  return [
    ...wrong.map((name) => fault(`${pointer}/${name}`, "is required, as text", "required")),
    ...unknownMembers(item, ["key", "value"], pointer),
  ];
}

function unknownMembers(object: JsonObject, known: readonly string[], pointer = ""): readonly ErrorDetail[] {
  const unknown = Object.keys(object).filter((name) => !known.includes(name));
  return unknown.map((name) => fault(`${pointer}/${escapePointer(name)}`, "is not known", "unknown"));
}

function fault(pointer: string, message: string, code: string): ErrorDetail {
  return { pointer, message, code };
}

function groupFaults(name: string): readonly ErrorDetail[] {
  if (GROUP.test(name)) return [];
  return [fault("/name", "must be 1 to 64 letters, digits, '-', '_' or '.', first a letter or digit", "form")];
}

function secretFaults(secrets: readonly NewSecret[]): readonly ErrorDetail[] {
  const seen = new Set<string>();
  return secrets.flatMap(({ key, value }, at) => {
    const isKnown = seen.has(key);
    seen.add(key);
    return [
      ...keyFaults(`/secrets/${at}/key`, key, isKnown),
      ...(value.open() === "" ? [fault(`/secrets/${at}/value`, "must not be empty", "empty")] : []),
    ];
  });
}

function keyFaults(pointer: string, key: string, isKnown: boolean): readonly ErrorDetail[] {
  if (!KEY.test(key)) return [fault(pointer, "must be 1 to 128 letters, digits, '-', '_' or '.'", "form")];
  return isKnown ? [fault(pointer, "is given already", "duplicate")] : [];
}
