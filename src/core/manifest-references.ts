import type { JsonObject } from "../contract/json.ts";
import { referenceKinds, referencesWithoutSecrets, usedBy } from "../model/references.ts";
import type { Reference } from "./manifest.ts";

const { fields, used, subjects, owner } = referenceKinds;
const declaredKinds: ReadonlySet<string> = new Set([fields, used, subjects].flatMap((kinds) => Object.values(kinds)));

/**
 * The references of a manifest to resources that manifests can declare: all except secrets, secret groups and the
 * tenant.
 */
export function manifestReferences(manifest: JsonObject): readonly Reference[] {
  const references: Reference[] = [];
  for (const found of [referencesWithoutSecrets(manifest, null), usedBy(manifest)]) {
    for (const { kind, key, pointer } of found) {
      if (declaredKinds.has(kind) && !isEveryone(kind, key)) references.push({ identity: `${kind}/${key}`, pointer });
    }
  }
  return references;
}

// The team "everyone" always exists.
function isEveryone(kind: string, key: string): boolean {
  return kind === owner && key === "everyone";
}
