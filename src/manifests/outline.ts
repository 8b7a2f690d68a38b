import type { Identity, Reference } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/passed-over.ts";
import type { CheckBasis } from "./semantics.ts";

/** What a file contributes, its manifests in outline. */
export type Outline = {
  readonly declarations: readonly DeclarationOutline[];
  /** What is said of the file, without its name. */
  readonly said: readonly Omit<SourceDiagnostic, "file">[];
};

/** A valid manifest in outline: all that rules between files need. */
export type DeclarationOutline = {
  readonly type: string;
  readonly identity: Identity;
  readonly line: number;
  /** Its place among the documents of its file. */
  readonly index: number;
  readonly references: readonly Reference[];
  /** What it was checked by; null where it was not found valid. */
  readonly checkedBy: CheckBasis | null;
};
