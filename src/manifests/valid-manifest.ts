import type { JsonObject } from "../contract/json.ts";
import { type Identity, type Reference, splitVersion } from "../core/manifest.ts";
import type { Position } from "../model/position.ts";
import { formatOf } from "../yaml/document.ts";
import type { Declaration } from "./declaration.ts";
import type { Meaning } from "./meaning.ts";
import type { SourceManifest } from "./source-manifest.ts";

/** A declaration that may be taken, as everybody outside the source sees it. */
export class SoundManifest implements SourceManifest {
  readonly identity: Identity;
  readonly references: readonly Reference[];
  readonly #declaration: Declaration;

  constructor(declaration: Declaration, identity: Identity, references: readonly Reference[]) {
    this.identity = identity;
    this.references = references;
    this.#declaration = declaration;
  }

  get kind(): string {
    return this.#declaration.kind.type;
  }

  get digest(): string | undefined {
    const { file, index } = this.#declaration;
    return file.digest === null ? undefined : `${file.digest} ${formatOf(file.path)} ${index}`;
  }

  get value(): JsonObject {
    return this.#declaration.value;
  }

  get file(): string {
    return this.#declaration.file.display;
  }

  get line(): number {
    return this.#declaration.line;
  }

  /** By what it is known to mean something sound; null where that is not known yet. */
  get meaning(): Meaning | null {
    return this.#declaration.meaning;
  }

  locate(pointer: string): Position {
    return this.#declaration.locate(pointer);
  }
}

/** The manifest of a declaration; null where it is refused. */
export function soundManifest(
  declaration: Declaration,
  { declared, invalid }: { readonly declared: ReadonlySet<Identity>; readonly invalid: ReadonlySet<Identity> },
): SoundManifest | null {
  const { kind, identity, references, isSound } = declaration;
  if (!isSound || identity === null || invalid.has(identity)) return null;
  const before = kind.versions === undefined ? null : earlierVersion(identity);
  const hasEarlier = before !== null && declared.has(before);
  const all = hasEarlier ? [...references, { identity: before, pointer: "/version" }] : references;
  return new SoundManifest(declaration, identity, all);
}

/** What of a declaration that is not sound can be checked against others; null where it is sound, or nothing can. */
export function faultyManifest(declaration: Declaration): SoundManifest | null {
  const { fields, identity, references, isSound } = declaration;
  if (isSound || fields === undefined || fields === null) return null;
  return new SoundManifest({ ...declaration, value: fields }, identity ?? "", references);
}

// Versions are registered in the order of their numbers.
function earlierVersion(identity: Identity): Identity | null {
  const { name, version } = splitVersion(identity);
  return version === null ? null : `${name}@${version - 1}`;
}
