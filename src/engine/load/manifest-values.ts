import type { JsonObject } from "../../contract/json.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Loaded } from "../../manifests/load-manifests.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { Pace } from "../../source/pacer.ts";

/** The values of every valid manifest, by identity. */
export async function valuesOf(
  { manifests }: Pick<Loaded, "manifests">,
  pace: Pace,
): Promise<ReadonlyMap<Identity, JsonObject>> {
  const read = await readManifests(manifests, pace);
  return new Map(read.map(({ identity, value }) => [identity, value]));
}
