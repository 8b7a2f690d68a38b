import type { JsonObject } from "../contract/json.ts";
import { referenceKinds } from "../model/reference-kinds.ts";
import { referencesWithoutSecrets } from "../model/references.ts";
import type { Reference } from "./manifest.ts";

const { fields, subjects, owner } = referenceKinds;
const declaredKinds: ReadonlySet<string> = new Set([...Object.values(fields), ...Object.values(subjects)]);

/** What a manifest refers to that manifests declare: all but secrets, groups of them, and the tenant. */
export function manifestReferences(manifest: JsonObject): readonly Reference[] {
  return referencesWithoutSecrets(manifest, null).flatMap(({ kind, key, pointer }) =>
    declaredKinds.has(kind) && !isEveryone(kind, key) ? [{ identity: `${kind}/${key}`, pointer }] : [],
  );
}

// Everyone is a team that exists always.
function isEveryone(kind: string, key: string): boolean {
  return kind === owner && key === "everyone";
}
