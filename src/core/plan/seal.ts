import { createHash } from "node:crypto";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { MASK } from "../../model/credential.ts";
import { type Kinds, requireKind } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity, Manifest } from "../manifest.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import type { Step } from "./plan.ts";

/** The inputs of a plan, by the identities of its steps: apply compares them with the current ones. */
export type Seal = {
  /** Id of the key for the keyed digests; the key is kept in the state. */
  readonly key: string;
  /** Digest of the configuration and the selection. */
  readonly configuration: string;
  /** Digest of each manifest with its secret values masked. */
  readonly source: { readonly [identity: Identity]: string };
  /** Keyed digest of each manifest that has secret values. */
  readonly secrets: { readonly [identity: Identity]: string };
  /** A stamp that changes with every change of the resource; null when live has none. */
  readonly live: { readonly [identity: Identity]: string | null };
  /** Keyed digests of the documents without a step, one per bucket. @default absent in plans of earlier releases */
  readonly kept?: readonly string[];
};

/** A seal that also covers everything its plan shows. */
export type SignedSeal = Seal & {
  /** Digest of the plan's content as its file shows it. */
  readonly content: string;
  /** Keyed digest of `content`: it proves to a holder of the key that the plan was made with it. */
  readonly signature: string;
};

/** The key and configuration that a plan is sealed with. */
export type Sealing = {
  readonly key: string;
  /** Keyed digest of a text: it cannot be guessed by trial without the key. */
  readonly keyed: (text: string) => string;
  readonly configuration: string;
};

/** The parts of a plan that a seal covers. */
export type Sealable = {
  readonly steps: readonly Step[];
  readonly manifestOf: (identity: Identity) => Manifest | undefined;
  /** Each declared resource with the digest of its document. */
  readonly documents: () => Iterable<readonly [Identity, string | undefined]>;
  readonly liveOf: (identity: Identity) => Live | undefined;
  readonly kinds: Kinds;
};

/** Seals the inputs of a plan; steps without an action are left out. */
export function makeSeal(plan: Sealable, sealing: Sealing): Seal {
  const acting = plan.steps.filter(({ action }) => action !== "keep");
  const source: { [identity: Identity]: string } = {};
  const secrets: { [identity: Identity]: string } = {};
  const live: { [identity: Identity]: string | null } = {};
  for (const { identity } of acting) {
    live[identity] = liveStamp(plan.liveOf(identity));
    const manifest = plan.manifestOf(identity);
    if (manifest === undefined) continue;
    const { open, keyed } = digestsOf(manifest, plan, sealing);
    source[identity] = open;
    if (keyed !== null) secrets[identity] = keyed;
  }
  const kept = keptDigests(plan, (identity) => Object.hasOwn(live, identity), sealing);
  return { key: sealing.key, configuration: sealing.configuration, source, secrets, live, kept };
}

// Enough that the changes of two documents rarely share a bucket, and few enough for a small file.
const BUCKETS = 64;

/** Digests of the documents without a step, one per bucket. They are keyed, since documents may hold secrets. */
export function keptDigests(
  { documents }: Sealable,
  hasStep: (identity: Identity) => boolean,
  { keyed }: Sealing,
): readonly string[] {
  const buckets = Array.from({ length: BUCKETS }, (): string[] => []);
  for (const [identity, document = ""] of documents()) {
    if (!hasStep(identity)) buckets[bucketOf(identity)]?.push(`${identity} ${document}`);
  }
  return buckets.map((bucket) => (bucket.length === 0 ? "" : keyed(bucket.toSorted().join("\n"))));
}

/** The bucket of an identity's document. */
export function bucketOf(identity: Identity): number {
  let sum = 0;
  for (let at = 0; at < identity.length; at += 1) sum = (sum * 31 + identity.charCodeAt(at)) % 0x10000;
  return sum % BUCKETS;
}

/** Signs a seal together with its plan as the file shows it. */
export function signSeal(plan: JsonObject, seal: Seal, { keyed }: Sealing): SignedSeal {
  const content = contentDigest({ ...plan, seal });
  return { ...seal, content, signature: keyed(content) };
}

/** The digest of a manifest without its secrets, and the keyed digest with them; null when it has none. */
export function digestsOf(
  { kind, identity, value }: Manifest,
  { kinds }: Sealable,
  { keyed }: Sealing,
): { readonly open: string; readonly keyed: string | null } {
  let hasSecrets = false;
  const mask = (): Json => {
    hasSecrets = true;
    return MASK;
  };
  const shown = canonical(redactManifest(requireKind(kinds, kind).shape, value, { mask }));
  return { open: digest(shown), keyed: hasSecrets ? keyed(`${identity} ${canonical(value)}`) : null };
}

/** A stamp that changes with every change of the resource. */
export function liveStamp(live: Live | undefined): string | null {
  return live?.state === "present" ? live.row.stamp : (live?.state ?? null);
}

/** Digest of everything that a plan shows, so that an edit of its file is detected. */
export function contentDigest(plan: JsonObject): string {
  const { format_version, revision, server, complete, summary, steps, diagnostics, allows, checksum, seal } = plan;
  const acting = Array.isArray(steps) ? steps.filter((step) => !isObject(step) || step.action !== "keep") : null;
  const { content: _, signature: __, ...bases } = isObject(seal) ? seal : {};
  const shown = { format_version, revision, server, complete, summary, diagnostics, allows, checksum };
  const given = Object.entries(shown).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return digest(canonical({ ...Object.fromEntries(given), steps: acting, seal: bases }));
}

/** Digest of a JSON value. */
export function jsonDigest(value: Json): string {
  return digest(canonical(value));
}

function digest(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
