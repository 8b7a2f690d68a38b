import type { JsonObject } from "../contract/json.ts";

/** `kind/` and the fqn-like key of a resource, such as `service/c1:ws1/api`. */
export type Identity = string;

/** A resource that a manifest refers to, and the JSON Pointer of the field with the reference. */
export type Reference = { readonly identity: Identity; readonly pointer: string };

/** The identity and position of a declared resource. */
export type ManifestHead = {
  /** Its kind's `type`; an alias such as `sso-team` is found under its kind. */
  readonly kind: string;
  readonly identity: Identity;
  /** Path relative to the working directory. */
  readonly file: string;
  /** First line of the document's content, from 1. */
  readonly line: number;
  readonly references: readonly Reference[];
};

/** One declared resource: a document of a source file that passed its schema. */
export type Manifest = ManifestHead & {
  /** As written, schema-valid, with no value changed. */
  readonly value: JsonObject;
};

/** The manifest with its value. The caller must have read it. */
export function requireRead(manifest: ManifestHead): Manifest {
  if (isRead(manifest)) return manifest;
  throw new TypeError(`the manifest of ${manifest.identity} was not read`);
}

function isRead(manifest: ManifestHead): manifest is Manifest {
  return "value" in manifest;
}

/** Splits an identity into its kind and key. */
export function splitIdentity(identity: Identity): { readonly kind: string; readonly key: string } {
  const slash = identity.indexOf("/");
  return { kind: identity.slice(0, slash), key: identity.slice(slash + 1) };
}

/** Splits the version from a key such as `repo/name@3`; null when the key has none. */
export function splitVersion(key: string): { readonly name: string; readonly version: number | null } {
  const at = key.lastIndexOf("@");
  const digits = at === -1 ? "" : key.slice(at + 1);
  return /^\d+$/.test(digits) ? { name: key.slice(0, at), version: Number(digits) } : { name: key, version: null };
}
