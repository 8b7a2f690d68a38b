import { createHmac, type KeyObject } from "node:crypto";
import { forbidden } from "../../http/http-error.ts";
import { deriveKey, keyObject } from "../../seal/seal-key.ts";
import { fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import type { Principal } from "../auth/principal.ts";
import { type MarkerSum, markerSums } from "../database/digests.ts";
import { toText } from "../database/json-text.ts";
import { sumsOfAll } from "../database/known-sums.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import type { ResourceDefinition } from "../resource.ts";
import { callerOf } from "./caller.ts";

const MAX_CHILDREN = 1000;

// 128 bits: nobody can find a change that leaves it equal, since the key is the server's.
const DIGEST_LENGTH = 22;

const getDigest: Handler<"getDigest"> = async ({ principal, query: { prefix = "" } }, context) => {
  if (!seesAll(principal, prefix)) throw forbidden("you may not see all resources of this range");
  const sums = prefix === "" ? await sumsOfAll(context.store) : await markerSums(context.store.read, prefix);
  const key = keyObject(deriveKey(context.keys().newest, "digests"));
  const below = Map.groupBy(sums, (sum) => childOf(prefix, sum.prefix));
  below.delete("");
  const isListed = below.size > 0 && below.size <= MAX_CHILDREN;
  const childrenOf = () => [...below].map(([child, within]) => ({ prefix: child, ...digestOf(child, within, key) }));
  const caller = prefix === "" ? { caller: await callerOf(principal, context) } : {};
  return { data: toText({ ...digestOf(prefix, sums, key), ...(isListed && { children: childrenOf() }), ...caller }) };
};

/** The operation that tells whether anything in a range has changed: E15. */
export const resource: ResourceDefinition = {
  section: {
    name: "Digests",
    description: "Whether resources have changed since they were read, without reading them.",
  },
  operations: [
    defineOperation("getDigest", getDigest, {
      // An empty range has a digest too, and hides nothing from those who may ask.
      refuses: { also: [403], never: [404] },
      description:
        "Returns the digest of all resources whose identity (`service/prod-eu:ranking/api`, `model-version/ranking/m@3`) begins with `prefix`. A digest changes in the transaction of each write that changes a manifest or adds a version, and says nothing else: compare it with the one of an earlier reply. The state of rollouts and runs is not part of it. The caller must see all of the range: a workspace's viewer that of `service/prod-eu:ranking/`, a cluster's viewer of everything below it that of `service/prod-eu:`, a tenant-viewer any. Without `prefix`, the reply names the caller with all its roles too, so that one request tells both.",
      parameters: {
        prefix: {
          description: "How the identities begin; absent for all resources of the tenant",
          example: "service/prod-eu:ranking/",
        },
      },
      replySchema: "RangeDigest",
    }),
  ],
};

function digestOf(prefix: string, sums: readonly MarkerSum[], key: KeyObject) {
  const count = sums.reduce((total, one) => total + one.count, 0);
  const sum = sums.reduce((total, one) => total + one.sum, 0n);
  const digest = createHmac("sha256", key)
    .update(`${prefix}\n${count}\n${sum}`)
    .digest("base64url")
    .slice(0, DIGEST_LENGTH);
  return { digest, count };
}

/** The prefix of the next level below, which ends with a slash or a colon; empty where there is none. */
function childOf(prefix: string, found: string): string {
  const length = found.slice(prefix.length).search(/[/:]/);
  return length === -1 ? "" : found.slice(0, prefix.length + length + 1);
}

const registryTypes: readonly string[] = ["chat_prompt", "model-version"];

/** Whether a principal may see every resource that begins so, those included that do not exist yet. */
function seesAll(principal: Principal, prefix: string): boolean {
  if (readsTenant(principal)) return true;
  const [, type = "", above = "", separator] = /^([^/]+)\/([^/]+)(\/)?/.exec(prefix) ?? [];
  if (registryTypes.includes(type))
    return separator !== undefined && isAllowed(principal, "read", { type: "ml-repo", fqn: above });
  const [cluster = "", workspace] = above.split(":");
  if (workspace === undefined) return false;
  const isWorkspace = separator !== undefined && isAllowed(principal, "read", { type: "workspace", fqn: above });
  return isWorkspace || fqnsWithRole(principal, "cluster", "below").includes(cluster);
}
