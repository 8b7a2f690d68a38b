import type { JsonObject } from "../contract/json.ts";
import { referenceKinds } from "../model/reference-kinds.ts";
import { referencesWithoutSecrets, usedBy } from "../model/references.ts";
import type { Reference } from "./manifest.ts";

const { fields, used, subjects, owner } = referenceKinds;
const declaredKinds: ReadonlySet<string> = new Set([fields, used, subjects].flatMap((kinds) => Object.values(kinds)));

/**
 * The references of a manifest to resources that manifests can declare: all except secrets, secret groups and the
 * tenant.
 */
export function manifestReferences(manifest: JsonObject): readonly Reference[] {
  return [...referencesWithoutSecrets(manifest, null), ...usedBy(manifest)].flatMap(({ kind, key, pointer }) =>
    declaredKinds.has(kind) && !isEveryone(kind, key) ? [{ identity: `${kind}/${key}`, pointer }] : [],
  );
}

// The team "everyone" always exists.
function isEveryone(kind: string, key: string): boolean {
  return kind === owner && key === "everyone";
}
