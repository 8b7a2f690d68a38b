import type { Json, JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";
import { type Identity, type Reference, splitVersion } from "../core/manifest.ts";
import { namingFields } from "../model/normal-form.ts";
import { oncePer } from "../model/once.ts";
import { requiredFields } from "../schema/schemas.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf } from "../yaml/document.ts";
import type { CheckBasis } from "./check-semantics.ts";
import type { LocateField, PatchedManifest, Rereading, SourceManifest } from "./source-manifest.ts";

/** A document that declares a managed resource, valid or not. */
export type Declaration = Named &
  DeclaredValue & {
    readonly kind: Kind;
    readonly type: string;
    /** The fields without an error of an invalid document; null if none can be determined. Absent if it is valid. */
    readonly fields?: JsonObject | null;
    /** The references in its valid fields. */
    readonly references: readonly Reference[];
    readonly file: SourceFile;
    /** The digest of the document and of all that its manifest depends on besides; absent if the file has none. */
    readonly digest: string | undefined;
    /** Its index among the documents of the file. */
    readonly index: number;
    readonly line: number;
    readonly locate: LocateField;
    /** What patches have made of it; absent if none matches it. */
    readonly patched?: PatchedManifest & { readonly key: string };
    /** The entries of the rename that have renamed something in it; absent if none has. */
    readonly renamedBy?: readonly string[];
    /** Whether it passed every check that needs no other manifest. */
    readonly isValid: boolean;
    /** What its semantic checks depended on; null if it was not checked yet. */
    readonly checkedBy: CheckBasis | null;
  };

/** The value of a document, or how to parse it if its file was recognised by its content and not parsed. */
type DeclaredValue = { readonly value: JsonObject } | { readonly read: (reading: Rereading) => Promise<JsonObject> };

/** The name of a declaration; null if the manifest lacks the fields for it. */
export type Named = {
  readonly identity: Identity | null;
  /** The part of the identity after the kind, without a version. */
  readonly key: string | null;
};

const NAMELESS: Named = { identity: null, key: null };

/** The name of a manifest of a kind; a manifest that lacks a field of its key has none. */
export function nameOf(kind: Kind, type: string, value: JsonObject): Named {
  for (const field of keyFields(type)) if (!isFilled(value[field])) return NAMELESS;
  const key = kind.key(value);
  const { version } = value;
  const suffix = kind.hasVersions && Number.isInteger(version) ? `@${version}` : "";
  return { key, identity: `${kind.type}/${key}${suffix}` };
}

/** The part of an identity after its kind, without the version that its manifest names. */
export function keyIn(kind: Kind, identity: Identity): string {
  const key = identity.slice(kind.type.length + 1);
  return kind.hasVersions ? splitVersion(key).name : key;
}

const keyFields = oncePer((type: string): readonly string[] => {
  const required = requiredFields(type);
  return namingFields.filter((field) => field === "name" || (field !== "type" && required.includes(field)));
});

const isFilled = (value: Json | undefined) => typeof value === "string" && value !== "";

// Each part matches characters that the next one does not, so that matching takes linear time.
const FIELD = new RegExp(
  // Only a line feed ends a line in YAML 1.2; with the flag `m`, U+2028 and U+2029 would too.
  `(?<![^\\n])([ \\t]*)["']?(${namingFields.join("|")})["']?[ \\t]*:[ \\t]*["']?([\\w.:@/-]{1,256})["']?(?:[ \\t]*,)?[ \\t]*(?:#.*)?\\r?(?=\\n|$)`,
  "g",
);

/** The naming fields that can be found in a text that cannot be parsed. */
export function namingFieldsIn(text: string): JsonObject {
  const found = Array.from(text.matchAll(FIELD), ([, { length = 0 } = "", key = "", value = ""]) => ({
    length,
    key,
    value,
  }));
  // In JSON the top-level fields are indented too, less than nested ones.
  const outermost = /^\s*\{/.test(text) ? Math.min(...found.map(({ length }) => length)) : 0;
  return Object.fromEntries(found.flatMap(({ length, key, value }) => (length === outermost ? [[key, value]] : [])));
}

/** The digest of a manifest: of the document that declares it, and of what transforms it, by the keys of that. */
export function manifestDigest(
  { digest, path }: SourceFile,
  index: number,
  keys: readonly (string | undefined)[],
): string | undefined {
  if (digest === null) return undefined;
  return [`${digest} ${formatOf(path)} ${index}`, ...keys.filter((key) => key !== undefined && key !== "")].join(" ");
}

/** A valid declaration, as the other modules use it. */
export type ValidManifest = SourceManifest & {
  /** What its semantic checks depended on; null if it was not checked yet. */
  readonly checkedBy: CheckBasis | null;
};

/** The manifest of a declaration; null if it is refused. */
export function validManifest(
  declaration: Declaration,
  { declared, invalid }: { readonly declared: ReadonlySet<Identity>; readonly invalid: ReadonlySet<Identity> },
): ValidManifest | null {
  const { kind, identity, references, isValid } = declaration;
  if (!isValid || identity === null || invalid.has(identity)) return null;
  const before = kind.hasVersions ? earlierVersion(identity) : null;
  const hasEarlier = before !== null && declared.has(before);
  const named = declaredReferences(references, declared);
  const all = hasEarlier ? [...named, { identity: before, pointer: "/version" }] : named;
  return manifestOf(declaration, identity, all);
}

// A version may be declared by a manifest without a number.
function declaredReferences(references: readonly Reference[], declared: ReadonlySet<Identity>): readonly Reference[] {
  if (!references.some(({ identity }) => identity.includes("@"))) return references;
  return references.map(({ identity, pointer }) => {
    const { name, version } = splitVersion(identity);
    const isBare = version !== null && !declared.has(identity) && declared.has(name);
    return { identity: isBare ? name : identity, pointer };
  });
}

/** The part of an invalid declaration that can be checked against others; null if it is valid, or has no such part. */
export function faultyManifest(declaration: Declaration, declared: ReadonlySet<Identity>): ValidManifest | null {
  const { fields, identity, references, isValid } = declaration;
  if (isValid || fields === undefined || fields === null) return null;
  return manifestOf({ ...declaration, value: fields }, identity ?? "", declaredReferences(references, declared));
}

function manifestOf(declaration: Declaration, identity: Identity, references: readonly Reference[]): ValidManifest {
  const { kind, file, digest, line, locate, checkedBy, patched } = declaration;
  const head = {
    kind: kind.type,
    identity,
    digest,
    file: file.display,
    line,
    references,
    locate,
    checkedBy,
    ...(patched === undefined ? {} : { patched }),
  };
  return "value" in declaration ? { ...head, value: declaration.value } : { ...head, read: declaration.read };
}

// Versions are registered in the order of their numbers.
function earlierVersion(identity: Identity): Identity | null {
  const { name, version } = splitVersion(identity);
  return version === null ? null : `${name}@${version - 1}`;
}
