import type { JsonObject } from "../contract/json.ts";
import { referenceKinds, referencesWithoutSecrets, secretsOf, usedBy } from "../model/references.ts";
import type { Reference } from "./manifest.ts";

const { fields, used, subjects, owner, secret } = referenceKinds;
const declaredKinds: ReadonlySet<string> = new Set([fields, used, subjects].flatMap((kinds) => Object.values(kinds)));

/**
 * The references of a manifest to resources that manifests can declare: all except the tenant. A secret stands for the
 * group that has it.
 */
export function manifestReferences(manifest: JsonObject): readonly Reference[] {
  const references: Reference[] = [];
  for (const found of [referencesWithoutSecrets(manifest, null), usedBy(manifest)]) {
    for (const { kind, key, pointer } of found) {
      if (declaredKinds.has(kind) && !isEveryone(kind, key)) references.push({ identity: `${kind}/${key}`, pointer });
    }
  }
  for (const { key, pointer } of secretsOf(manifest)) {
    const [, group, ...rest] = key.split(":");
    // Their tenant is not known here.
    if (group !== undefined && rest.length === 1) references.push({ identity: `${secret}/${group}`, pointer });
  }
  return references;
}

// The team "everyone" always exists.
function isEveryone(kind: string, key: string): boolean {
  return kind === owner && key === "everyone";
}
