import type { JsonObject } from "../../contract/json.ts";
import { requireKind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { Loaded } from "../../manifests/load-manifests.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import { patchedBy } from "../../manifests/transform.ts";
import type { Pace } from "../../source/pacer.ts";
import { ExactProcess } from "../../yaml/read-yaml.ts";

/** The manifests of a merge result that other patches match than those of the base, as the patches of the base make them. */
export async function underBasePatches(
  { manifests, contents: { patches: merged } }: Pick<Loaded, "manifests" | "contents">,
  { contents: { patches: atBase } }: Pick<Loaded, "contents">,
  pace: Pace,
): Promise<ReadonlyMap<Identity, JsonObject>> {
  const found = new Map<Identity, JsonObject>();
  if (merged.key === atBase.key) return found;
  await using exact = new ExactProcess();
  const others = manifests.filter(({ identity }) => merged.keyOf(identity) !== atBase.keyOf(identity));
  for (const { kind: type, identity, value, patched } of await readManifests(others, pace)) {
    const unpatched = (await patched?.unpatched({ exact, signal: pace.signal })) ?? value;
    const declared = { kind: requireKind(kindsByType, type), type, value: unpatched };
    found.set(identity, patchedBy(atBase.of(identity), declared).value);
  }
  return found;
}
