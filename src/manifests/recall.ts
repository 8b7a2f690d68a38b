import type { Kind } from "../core/kind.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { FileContent } from "./declare.ts";
import { Origin, Outlined } from "./lazy-manifest.ts";
import type { RememberedContent, RememberedDeclaration } from "./remembered.ts";

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
    declarations: declarations.map((one, nth) => new Outlined(one, kindFor(one, on), origin, values[nth] ?? null)),
    unmanaged,
    isReadable: true,
  };
}

function kindFor({ type }: RememberedDeclaration, { kindOf }: Recalling): Kind {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`a manifest of no kind was remembered: ${type}`);
  return kind;
}
