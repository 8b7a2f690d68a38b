import type { Stop } from "../clock/clock.ts";
import type { Manifest } from "../core/manifest.ts";
import { type Pace, pacer } from "../source/pacer.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import {
  type FieldPlace,
  isParsed,
  type Rereading,
  type SourceHead,
  type UnparsedManifest,
} from "./source-manifest.ts";

/** The manifests with their values; unparsed ones are read from their files. */
export async function readManifests<One extends Manifest | UnparsedManifest>(
  manifests: readonly One[],
  { clock, signal }: Pace,
): Promise<readonly (One & Manifest)[]> {
  await using exact = new ExactProcess();
  return await readManifestsBy(manifests, { exact, clock, signal });
}

/** Like `readManifests`, with an exact reader that the caller provides. */
export async function readManifestsBy<One extends Manifest | UnparsedManifest>(
  manifests: readonly One[],
  reading: Rereading & Pace,
): Promise<readonly (One & Manifest)[]> {
  const pause = pacer(reading);
  const read: (One & Manifest)[] = [];
  for (const manifest of manifests) {
    read.push(isParsed(manifest) ? manifest : await withValue(manifest, reading));
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return read;
}

/** Like `readManifests`, for one manifest. */
export async function readManifest<One extends Manifest | UnparsedManifest>(
  manifest: One,
  { signal }: Stop,
): Promise<One & Manifest> {
  await using exact = new ExactProcess();
  return await withValue(manifest, { exact, signal });
}

async function withValue<One extends Manifest | UnparsedManifest>(
  manifest: One,
  reading: Rereading,
): Promise<One & Manifest> {
  return { ...manifest, value: "value" in manifest ? manifest.value : await manifest.read(reading) };
}

/** A field of a manifest, or with a null pointer the start of its document. */
export type ManifestField = { readonly manifest: SourceHead; readonly pointer: string | null };

/** Where a field stands. */
export async function locateField({ manifest, pointer }: ManifestField, { signal }: Stop): Promise<FieldPlace> {
  await using exact = new ExactProcess();
  return await positionOf({ manifest, pointer }, { exact, signal });
}

/** The fields with the places where they stand. */
export async function locateFields<Field extends ManifestField>(
  fields: readonly Field[],
  { signal }: Stop,
): Promise<readonly (Field & { readonly position: FieldPlace })[]> {
  await using exact = new ExactProcess();
  const located: (Field & { readonly position: FieldPlace })[] = [];
  for (const field of fields) located.push({ ...field, position: await positionOf(field, { exact, signal }) });
  return located;
}

async function positionOf({ manifest, pointer }: ManifestField, reading: Rereading): Promise<FieldPlace> {
  return pointer === null ? { file: manifest.file, line: manifest.line, column: 1 } : manifest.locate(pointer, reading);
}
