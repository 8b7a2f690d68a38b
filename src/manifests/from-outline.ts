import type { Kind } from "../core/kind.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { FileContent } from "./declare.ts";
import { Origin, Outlined } from "./lazy-manifest.ts";
import type { DeclarationOutline, Outline } from "./outline.ts";

/** What making declarations of outlines needs to know. */
export type OutlineReading = { readonly kindOf: (type: string) => Kind | undefined; readonly limits: Limits };

/** What a file contributes, by the outline of the same content; its manifests are read when first looked at. */
export function fromOutline(file: SourceFile, { declarations, unmanaged }: Outline, on: OutlineReading): FileContent {
  const origin = new Origin(file, on.limits);
  return {
    declarations: declarations.map((one) => new Outlined(one, kindFor(one, on), origin, null)),
    unmanaged,
    isReadable: true,
  };
}

function kindFor({ type }: DeclarationOutline, { kindOf }: OutlineReading): Kind {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`an outline has no kind: ${type}`);
  return kind;
}
