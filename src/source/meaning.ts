import { type JsonObject, text } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import { checkMeaning } from "../schema/meaning.ts";
import { worded } from "./examine.ts";
import { inFile } from "./findings.ts";
import type { Refuse } from "./twins.ts";

/** Checks what no schema can say of each manifest, knowing the cluster that it ends up in. */
export function checkMeanings(
  manifests: readonly Manifest[],
  now: Date,
  { add, refuse }: { readonly add: (diagnostic: Diagnostic) => void; readonly refuse: Refuse },
): void {
  const clusterOf = clusterFinder(manifests);
  for (const manifest of manifests) {
    const cluster = clusterOf(manifest);
    const context = cluster === undefined ? { now } : { now, cluster };
    for (const fault of checkMeaning(text(manifest.value.type) ?? manifest.kind, manifest.value, context)) {
      const diagnostic = inFile(manifest.file, worded(fault), manifest.locate(fault.pointer));
      if (fault.severity === "error") refuse(manifest.identity, diagnostic);
      else add(diagnostic);
    }
  }
}

// A service names its workspace and the workspace its cluster: the first reference that leads to a cluster counts.
function clusterFinder(manifests: readonly Manifest[]): (manifest: Manifest) => JsonObject | undefined {
  const byIdentity = new Map(manifests.map((manifest) => [manifest.identity, manifest]));
  const known = new Map<Identity, JsonObject | undefined>();
  const find = (manifest: Manifest): JsonObject | undefined => {
    if (manifest.value.type === "cluster") return manifest.value;
    if (known.has(manifest.identity)) return known.get(manifest.identity);
    // Set beforehand, so that a cycle ends here.
    known.set(manifest.identity, undefined);
    const cluster = first(manifest.references, ({ identity, pointer }) => {
      const target = PLACES.has(pointer) ? byIdentity.get(identity) : undefined;
      return target === undefined ? undefined : find(target);
    });
    known.set(manifest.identity, cluster);
    return cluster;
  };
  return find;
}

// The fields that say where a resource lives; grants say who may use it.
const PLACES = new Set(["/workspace_fqn", "/cluster_fqn"]);

function first<Item, Found>(items: readonly Item[], of: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
