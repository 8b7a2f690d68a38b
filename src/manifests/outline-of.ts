import type { SourceDiagnostic } from "../core/passed-over.ts";
import type { Declaration } from "./declaration.ts";
import type { FileContent } from "./declare.ts";
import type { DeclarationOutline, Outline } from "./outline.ts";

/** A file of which more is said is read each time. */
const MOST_SAID = 20;

/** The outline of a file that was read; null where it has to be read each time. */
export function outlineOf({
  content,
  said,
}: {
  readonly content: FileContent;
  readonly said: readonly SourceDiagnostic[];
}): Outline | null {
  const declarations = content.declarations.map(declarationOutline);
  const isWhole = declarations.every((one) => one !== null);
  if (!content.isQuickToReread || !isWhole || said.length > MOST_SAID) return null;
  return { declarations, said: said.map(({ file: _, ...rest }) => rest) };
}

function declarationOutline(one: Declaration): DeclarationOutline | null {
  const { type, identity, line, index, references, isValid, checkedBy } = one;
  return isValid && identity !== null ? { type, identity, line, index, references, checkedBy } : null;
}
