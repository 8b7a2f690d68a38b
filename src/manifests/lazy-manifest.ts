import type { JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { Position } from "../model/position.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { type Declaration, keyIn } from "./declaration.ts";
import type { Meaning } from "./meaning.ts";
import type { DeclarationOutline } from "./outline.ts";
import { type Again, readAgain } from "./reparse.ts";

/** A file that can be read again, once for all that stands in it. */
export class Origin {
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

/**
 * A sound declaration in outline, whose value is read again where it is not held. A class, since there may be a hundred
 * thousand of which nobody asks for more than what they refer to.
 */
export class Outlined implements Declaration {
  readonly kind: Kind;
  readonly type: string;
  readonly identity: Identity;
  readonly references: readonly Reference[];
  readonly index: number;
  readonly line: number;
  readonly meaning: Meaning | null;
  readonly #origin: Origin;
  /** Null where it is not held. */
  readonly #value: JsonObject | null;

  constructor(outline: DeclarationOutline, kind: Kind, origin: Origin, value: JsonObject | null) {
    this.kind = kind;
    // Most kinds have one type, which need not be held once more by each of its manifests.
    this.type = outline.type === kind.type ? kind.type : outline.type;
    this.identity = outline.identity;
    this.references = outline.references;
    this.index = outline.index;
    this.line = outline.line;
    this.meaning = outline.meaning;
    this.#origin = origin;
    this.#value = value;
  }

  get isSound(): true {
    return true;
  }

  get key(): string {
    return keyIn(this.kind, this.identity);
  }

  get file(): SourceFile {
    return this.#origin.file;
  }

  get value(): JsonObject {
    return this.#value ?? this.#origin.again.value(this.index);
  }

  locate(pointer: string, at?: "key" | "value"): Position {
    return this.#origin.again.locate(this.index, this.line)(pointer, at);
  }
}
