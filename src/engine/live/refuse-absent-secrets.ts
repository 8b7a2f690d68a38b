import { ClientError } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import { type ResourceReference, secretsOf } from "../../model/references.ts";
import type { KnownServer } from "../known-server.ts";

/** What the search for secrets needs. */
export type SecretContext = {
  readonly reader: Reader;
  readonly serverFacts: KnownServer;
  /** Whether the token is known to see the whole tenant. */
  readonly seesAll: boolean;
  readonly signal: AbortSignal;
};

/** What the lists show, by their fqns. */
type Listed = { readonly groups: ReadonlySet<string>; readonly secrets: ReadonlySet<string> };

/** Refuses, by one list and without a dry run, the manifests that name a secret that is not there. */
export async function refuseAbsentSecrets(
  manifests: readonly Manifest[],
  context: SecretContext & {
    /** Whether another token will write it, so that a group that this one does not see may be there. */
    readonly isForOthers: (identity: Identity) => boolean;
  },
): Promise<ReadonlyMap<Identity, DryRunReply>> {
  const named = manifests.flatMap(({ identity, value }) => {
    const secrets = secretsOf(value);
    return secrets.length === 0 ? [] : [{ identity, secrets }];
  });
  const there = named.length === 0 ? null : await listSecrets(context);
  if (there === null) return new Map();
  return new Map(
    named.flatMap(({ identity, secrets }) => {
      const isSeen = ({ key }: ResourceReference): boolean => there.groups.has(key.slice(0, key.lastIndexOf(":")));
      const asked = context.seesAll || !context.isForOthers(identity) ? secrets : secrets.filter(isSeen);
      const [missing] = asked.filter(({ key }) => !there.secrets.has(key));
      return missing === undefined ? [] : [[identity, refusal(missing)]];
    }),
  );
}

async function listSecrets({ reader, serverFacts, signal }: SecretContext): Promise<Listed | null> {
  if (!serverFacts.has("listSecretGroups")) return null;
  try {
    const groups = await reader.list("listSecretGroups", {}, { signal });
    // A group that does not list its secrets tells nothing of them.
    if (!groups.every(({ associatedSecrets }) => Array.isArray(associatedSecrets))) return null;
    return {
      groups: new Set(groups.map(({ fqn }) => fqn)),
      secrets: new Set(groups.flatMap(({ associatedSecrets }) => associatedSecrets.map(({ fqn }) => fqn))),
    };
  } catch (error) {
    // Without the list nothing is known of secrets; the plan does not hang on it.
    if (error instanceof ClientError) return null;
    throw error;
  }
}

function refusal({ key, pointer }: ResourceReference): DryRunReply {
  return { state: "refused", message: `the secret ${key} does not exist, or this token cannot see it`, pointer };
}
