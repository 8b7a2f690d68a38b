import { ClientError } from "../../client/client-error.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Kind } from "../../core/kind.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import { valuesIn } from "../../core/referenced-values.ts";
import { type Sight, showsTenant } from "../../core/sight.ts";
import { type ResourceReference, secretsOf } from "../../model/references.ts";
import type { ReadAccess } from "../session.ts";

type SecretReading = {
  readonly server: ReadAccess;
  readonly sight: Sight;
  /** What the plan writes: secrets that it makes are not missing. */
  readonly made: readonly { readonly kind: Kind; readonly manifest: Manifest }[];
  readonly signal: AbortSignal;
};

/** The fqns of the listed groups and secrets. */
type Listed = { readonly groups: ReadonlySet<string>; readonly secrets: ReadonlySet<string> };

/**
 * Refuses manifests that name a missing secret, with one list and without a dry run. A secret is missing only where the
 * token sees all groups, or sees its group without it.
 */
export async function refuseAbsentSecrets(
  manifests: readonly Manifest[],
  reading: SecretReading,
): Promise<ReadonlyMap<Identity, DryRunReply>> {
  const named = manifests.flatMap(({ identity, value }) => {
    const secrets = secretsOf(value);
    return secrets.length === 0 ? [] : [{ identity, secrets }];
  });
  const listed = named.length === 0 ? null : await listSecrets(reading);
  const made = new Set(reading.made.flatMap(secretsMadeBy));
  if (listed === null) return new Map();
  return new Map(
    named.flatMap(({ identity, secrets }) => {
      const isSeen = ({ key }: ResourceReference): boolean => listed.groups.has(key.slice(0, key.lastIndexOf(":")));
      const checkable = showsTenant(reading.sight) ? secrets : secrets.filter(isSeen);
      const [missing] = checkable.filter(({ key }) => !listed.secrets.has(key) && !made.has(withoutTenant(key)));
      return missing === undefined ? [] : [[identity, refusal(missing)]];
    }),
  );
}

// The tenant of a group is not known before it exists.
function secretsMadeBy({ kind, manifest: { value } }: SecretReading["made"][number]): readonly string[] {
  return valuesIn(kind, value).map(({ name }) => `${kind.key(value)}:${name}`);
}

function withoutTenant(fqn: string): string {
  return fqn.slice(fqn.indexOf(":") + 1);
}

async function listSecrets({ server: { reader, capabilities }, signal }: SecretReading): Promise<Listed | null> {
  if (!capabilities.has("listSecretGroups")) return null;
  try {
    const groups = await reader.list("listSecretGroups", {}, { signal });
    // A group without a list of its secrets shows nothing about them.
    if (!groups.every(({ associatedSecrets }) => Array.isArray(associatedSecrets))) return null;
    return {
      groups: new Set(groups.map(({ fqn }) => fqn)),
      secrets: new Set(groups.flatMap(({ associatedSecrets }) => associatedSecrets.map(({ fqn }) => fqn))),
    };
  } catch (error) {
    // Without the list the secrets are not checked; the plan does not depend on it.
    if (error instanceof ClientError) return null;
    throw error;
  }
}

function refusal({ key, pointer }: ResourceReference): DryRunReply {
  return { state: "refused", message: `the secret ${key} does not exist`, pointer };
}
