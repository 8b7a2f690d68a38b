import { createHmac } from "node:crypto";
import type { Identity } from "../core/manifest.ts";
import { jsonDigest, type Sealable, type Sealing } from "../core/plan/seal.ts";
import type { SealedPlan } from "../core/plan/sealed-plan.ts";
import { kindsByType } from "../kinds/index.ts";
import { readManifests } from "../manifests/read-manifests.ts";
import { deriveKey, keyObject } from "../seal/seal-key.ts";
import type { Pass, Run } from "./pass.ts";
import type { LivePlan } from "./plan.ts";

/** What the plans of a pass are sealed with: the key of its state, and the digest of its configuration. */
export function sealingOf({
  connection: { state, session },
  read: { rules },
}: Pick<Pass, "connection" | "read">): Sealing {
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

/** Whether a plan was sealed with the key of this state, so that what it allows is what its operator allowed. */
export function isSealedBy({ seal }: SealedPlan, { key, keyed }: Sealing): boolean {
  return seal.key === key && seal.signature === keyed(seal.content);
}

/** The inputs of a plan that its seal covers, with the manifests of its own steps and of these identities. */
export async function sealableOf(
  { plan, waved, observation }: LivePlan,
  identities: Iterable<Identity>,
  run: Run,
): Promise<Sealable> {
  const acting = plan.steps.filter(({ action }) => action !== "keep").map(({ identity }) => identity);
  const needed = new Set([...identities, ...acting]);
  const manifests = waved.map(({ manifest }) => manifest).filter(({ identity }) => needed.has(identity));
  const read = new Map((await readManifests(manifests, run)).map((manifest) => [manifest.identity, manifest]));
  return {
    steps: plan.steps,
    manifestOf: (identity) => read.get(identity),
    documents: () => waved.values().map(({ manifest }) => [manifest.identity, manifest.digest] as const),
    liveOf: (identity) => observation.live.get(identity),
    kinds: kindsByType,
  };
}
