import { createHmac, timingSafeEqual } from "node:crypto";
import type { PlanPart } from "../contract/generated/output.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import { jsonDigest, planDigest, type Signable, type Signer } from "../core/plan/sign-plan.ts";
import type { SignedPlan } from "../core/plan/signed-plan.ts";
import { kindsByType } from "../kinds/index.ts";
import { isParsed } from "../manifests/source-manifest.ts";
import { deriveKey, keyObject, type SealKey } from "../seal/seal-key.ts";
import type { Pass } from "./pass.ts";
import type { LivePlan } from "./plan.ts";

/** What the plans of a pass are signed with: the key of its state, and the digest of its configuration. */
export function signerOf({
  connection: { state, session },
  read: { rules },
}: Pick<Pass, "connection" | "read">): Signer {
  const { paths, only, kinds, exclude } = rules.selection;
  const { unknownFields = null, external = [], allowLiteralSecrets = [] } = rules.load;
  const ignore = rules.ignore.map(({ path, match = null, expires = null }) => ({ path, match, expires }));
  const load = { unknownFields, external, allowLiteralSecrets };
  const configuration = { paths, only, kinds, exclude, ignore, load, hasSink: session.sink !== null };
  return {
    key: state.key.version,
    keyed: keyedDigest(state.key),
    configuration: jsonDigest(configuration),
  };
}

/** The digest under the key of a state by which plans are signed. */
export function keyedDigest(key: SealKey): Signer["keyed"] {
  const derived = keyObject(deriveKey(key, "sealed plan"));
  return (text) => `hmac-sha256:${createHmac("sha256", derived).update(text).digest("hex")}`;
}

/** Whether the file of a plan has the signature that one of these keys makes of it. */
export function sealOf(plan: JsonObject, keys: readonly SealKey[]): PlanPart["seal"] {
  const { seal } = plan;
  if (!isObject(seal)) return "none";
  const { key: version, content, signature } = seal;
  const key = keys.find((one) => one.version === version);
  if (content !== planDigest(plan) || typeof signature !== "string") return "broken";
  if (key === undefined) return "other-key";
  const [made, given] = [Buffer.from(keyedDigest(key)(content)), Buffer.from(signature)];
  return made.length === given.length && timingSafeEqual(made, given) ? "valid" : "broken";
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
