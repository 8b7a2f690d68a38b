import type { JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";
import type { Identity, Position, Reference } from "../core/manifest.ts";
import { type Again, readAgain } from "./again.ts";
import { type Declaration, keyIn } from "./declaration.ts";
import type { FileContent } from "./declare.ts";
import type { Limits } from "./limits.ts";
import type { Meaning } from "./meaning.ts";
import type { RememberedContent, RememberedDeclaration } from "./remembered.ts";
import type { SourceFile } from "./revision.ts";

/** What recalling needs to know. */
export type Recalling = { readonly kindOf: (type: string) => Kind | undefined; readonly limits: Limits };

/**
 * What a file contributes, by what is remembered of the same content; its manifests, unless they are given as JSON, are
 * read when first looked at.
 */
export function recall(
  file: SourceFile,
  { declarations, unmanaged }: RememberedContent,
  on: Recalling,
  values: readonly string[] = [],
): FileContent {
  const origin = new Origin(file, on.limits);
  return {
    declarations: declarations.map((one, nth) => new Recalled(one, kindFor(one, on), origin, values[nth] ?? null)),
    unmanaged,
    isReadable: true,
  };
}

/** The file that recalled manifests stand in, read again for all of them at once. */
class Origin {
  readonly file: SourceFile;
  readonly #limits: Limits;
  #again: Again | null = null;

  constructor(file: SourceFile, limits: Limits) {
    this.file = file;
    this.#limits = limits;
  }

  get again(): Again {
    this.#again ??= readAgain(this.file, this.#limits);
    return this.#again;
  }
}

// A class, since there may be a hundred thousand of which nobody asks for more than what they refer to.
class Recalled implements Declaration {
  readonly kind: Kind;
  readonly type: string;
  readonly identity: Identity;
  readonly references: readonly Reference[];
  readonly index: number;
  readonly line: number;
  readonly meaning: Meaning | null;
  readonly #origin: Origin;
  /** As JSON, until somebody asks. */
  #given: string | null;
  #value: JsonObject | null = null;

  constructor(one: RememberedDeclaration, kind: Kind, origin: Origin, given: string | null) {
    this.kind = kind;
    // Most kinds have one type, which need not be held once more by each of its manifests.
    this.type = one.type === kind.type ? kind.type : one.type;
    this.identity = one.identity;
    this.references = one.references;
    this.index = one.index;
    this.line = one.line;
    this.meaning = one.meaning;
    this.#origin = origin;
    this.#given = given;
  }

  get isSound(): boolean {
    return true;
  }

  get key(): string {
    return keyIn(this.kind, this.identity);
  }

  get file(): SourceFile {
    return this.#origin.file;
  }

  get value(): JsonObject {
    if (this.#value !== null) return this.#value;
    if (this.#given === null) return this.#origin.again.value(this.index);
    this.#value = JSON.parse(this.#given) as JsonObject;
    this.#given = null;
    return this.#value;
  }

  locate(pointer: string, at?: "key" | "value"): Position {
    return this.#origin.again.locate(this.index, this.line)(pointer, at);
  }
}

function kindFor({ type }: RememberedDeclaration, { kindOf }: Recalling): Kind {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`a manifest of no kind was remembered: ${type}`);
  return kind;
}
