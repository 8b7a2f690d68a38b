import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { hasConnectionSecret } from "../../model/connection-secret.ts";
import { isCredential } from "../../model/credential.ts";
import { isSecretReference } from "../../model/sensitive-fields.ts";

/** A keyed digest of a text in hexadecimal: equal texts have equal digests, and the text cannot be recovered. */
export type Digest = (text: string) => string;

/** The prefix of every pseudonym. */
export const PSEUDONYM_PREFIX = "stand-in:";

const EMAIL = /[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)+/gi;
const URL_USER = /:\/\/[^\s/@]*@/;

/** Top-level fields of a manifest whose strings are names. */
const NAMES = new Set([
  "type",
  "name",
  "workspace_fqn",
  "cluster_fqn",
  "ml_repo",
  "cluster_type",
  "base_domains",
  "members",
  "managers",
  "roles",
]);
/** Fields at any depth whose strings have a meaning for the control plane. */
const TYPED = new Set([
  "type",
  "image_uri",
  "protocol",
  "app_protocol",
  "host",
  "role_id",
  "resource_type",
  "resource_fqn",
  "subject",
]);

/**
 * A manifest that keeps its names, references, numbers and typed strings. Other strings, free values and all e-mail
 * addresses are replaced by digests.
 */
export function pseudonymiseManifest(shape: Shape, manifest: JsonObject, digest: Digest): JsonObject {
  return Object.fromEntries(
    Object.entries(manifest).map(([name, value]) => {
      const field = shape.is === "object" ? shape.fields[name] : undefined;
      const keeps = NAMES.has(name) || TYPED.has(name);
      if (name === "env" && isObject(value)) return [name, envOf(value, digest)];
      return [name, field === undefined && !keeps ? hidden(value, digest) : standIn(field, value, keeps, digest)];
    }),
  );
}

/** A name as a snapshot stores it: e-mail addresses and possible credentials are replaced by digests. */
export function pseudonymiseName(text: string, digest: Digest): string {
  if (isCredential(text) || URL_USER.test(text) || hasConnectionSecret(text)) return PSEUDONYM_PREFIX + digest(text);
  return text.replace(EMAIL, (address) => `${digest(address.toLowerCase())}@snapshot.invalid`);
}

function standIn(shape: Shape | undefined, value: Json, keeps: boolean, digest: Digest): Json {
  if (value === null || typeof value === "number" || typeof value === "boolean") {
    return shape?.is === "free" ? hidden(value, digest) : value;
  }
  if (typeof value === "string") {
    if (isSecretReference(value)) return value;
    return keeps ? pseudonymiseName(value, digest) : hidden(value, digest);
  }
  if (Array.isArray(value)) {
    const items = shape?.is === "list" ? shape.items : undefined;
    return value.map((item: Json) => standIn(items, item, keeps, digest));
  }
  if (shape?.is !== "object") return hidden(value, digest);
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const inner = shape.fields[name];
      return [name, inner === undefined ? hidden(field, digest) : standIn(inner, field, TYPED.has(name), digest)];
    }),
  );
}

function envOf(env: JsonObject, digest: Digest): JsonObject {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      pseudonymiseName(name, digest),
      isSecretReference(value) ? value : hidden(value, digest),
    ]),
  );
}

function hidden(value: Json, digest: Digest): Json {
  return value === null ? null : PSEUDONYM_PREFIX + digest(JSON.stringify(value));
}
