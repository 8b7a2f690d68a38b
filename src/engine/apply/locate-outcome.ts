import type { Stop } from "../../clock/clock.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Outcome } from "../../core/report/report.ts";
import { locateField } from "../../manifests/read-manifests.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";

/** The place of an outcome's error in the source (`file:line:column`), as exact as its pointer; null when unknown. */
export async function locateOutcome(
  { identity, error }: Pick<Outcome, "identity" | "error">,
  manifests: ReadonlyMap<Identity, SourceHead>,
  stop: Stop,
): Promise<string | null> {
  const manifest = error === null ? undefined : manifests.get(identity);
  if (manifest === undefined) return null;
  const { line, column } = await locateField({ manifest, pointer: error?.pointer || null }, stop);
  return `${manifest.file}:${line}:${column}`;
}
