import type { Identity } from "../../core/manifest.ts";
import type { Outcome } from "../../core/report/report.ts";
import { positionOf, type SourceHead } from "../../manifests/source-manifest.ts";

/** Where an outcome's error is in the source (`file:line:column`), as exactly as it tells; null when unknown. */
export function locateOutcome(
  { identity, error }: Pick<Outcome, "identity" | "error">,
  manifests: ReadonlyMap<Identity, SourceHead>,
): string | null {
  const manifest = error === null ? undefined : manifests.get(identity);
  if (manifest === undefined) return null;
  const { line, column } = positionOf(manifest, error?.pointer || null);
  return `${manifest.file}:${line}:${column}`;
}
