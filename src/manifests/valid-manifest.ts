import { type Identity, type Reference, splitVersion } from "../core/manifest.ts";
import type { CheckBasis } from "./check-semantics.ts";
import type { Declaration } from "./declaration.ts";
import type { SourceManifest } from "./source-manifest.ts";

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
  const { kind, file, digest, line, locate, checkedBy } = declaration;
  const head = { kind: kind.type, identity, digest, file: file.display, line, references, locate, checkedBy };
  return "value" in declaration ? { ...head, value: declaration.value } : { ...head, read: declaration.read };
}

// Versions are registered in the order of their numbers.
function earlierVersion(identity: Identity): Identity | null {
  const { name, version } = splitVersion(identity);
  return version === null ? null : `${name}@${version - 1}`;
}
