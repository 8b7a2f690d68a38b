import { createHmac } from "node:crypto";
import { jsonDigest, type Sealable, type Sealing } from "../core/plan/seal.ts";
import { readManifest } from "../manifests/source-manifest.ts";
import { deriveKey, keyObject } from "../seal/seal-key.ts";
import { type Pass, shapeOf } from "./pass.ts";
import type { LivePlan } from "./plan-against-live.ts";

/** What the plans of a pass are sealed with: the key of its state, and the configuration that they are made by. */
export function sealingOf({ connection: { state, session }, read: { rules } }: Pass): Sealing {
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

/** What a plan against live rests on. */
export function sealableOf({ plan, waved, observation }: LivePlan): Sealable {
  const manifests = new Map(waved.map(({ manifest }) => [manifest.identity, manifest]));
  return {
    steps: plan.steps,
    manifestOf: (identity) => {
      const manifest = manifests.get(identity);
      return manifest && readManifest(manifest);
    },
    documents: () => waved.values().map(({ manifest }) => [manifest.identity, manifest.digest] as const),
    liveOf: (identity) => observation.live.get(identity),
    shapeOf,
  };
}
