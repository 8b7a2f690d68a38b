import { createHmac } from "node:crypto";
import { jsonDigest, type Signable, type Signer } from "../core/plan/sign-plan.ts";
import type { SignedPlan } from "../core/plan/signed-plan.ts";
import { kindsByType } from "../kinds/index.ts";
import { isParsed } from "../manifests/source-manifest.ts";
import { deriveKey, keyObject } from "../seal/seal-key.ts";
import type { Pass } from "./pass.ts";
import type { LivePlan } from "./plan.ts";

/** What the plans of a pass are signed with: the key of its state, and the digest of its configuration. */
export function signerOf({
  connection: { state, session },
  read: { rules },
}: Pick<Pass, "connection" | "read">): Signer {
  const key = keyObject(deriveKey(state.key, "sealed plan"));
  const { paths, only, kinds, exclude } = rules.selection;
  const { unknownFields = null, external = [], allowLiteralSecrets = [] } = rules.load;
  const ignore = rules.ignore.map(({ path, match = null, expires = null }) => ({ path, match, expires }));
  const load = { unknownFields, external, allowLiteralSecrets };
  const configuration = { paths, only, kinds, exclude, ignore, load, hasSink: session.sink !== null };
  return {
    key: state.key.version,
    keyed: (text) => `hmac-sha256:${createHmac("sha256", key).update(text).digest("hex")}`,
    configuration: jsonDigest(configuration),
  };
}

/** Whether a plan was signed with the key of this state, so that what it allows is what its operator allowed. */
export function isSignedBy({ signature }: SignedPlan, { key, keyed }: Signer): boolean {
  return signature.key === key && signature.signature === keyed(signature.content);
}

/** The inputs of a plan that its signature covers. The manifests of its steps are read, and those that its pass asked for. */
export function signableOf({ plan, waved, observation }: LivePlan): Signable {
  const read = new Map(waved.flatMap(({ manifest }) => (isParsed(manifest) ? [[manifest.identity, manifest]] : [])));
  return {
    steps: plan.steps,
    manifestOf: (identity) => read.get(identity),
    documents: () => waved.values().map(({ manifest }) => [manifest.identity, manifest.digest] as const),
    liveOf: (identity) => observation.live.get(identity),
    kinds: kindsByType,
  };
}
