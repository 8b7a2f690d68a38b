import { createHash } from "node:crypto";
import type { PlanSignature } from "../../contract/generated/output.ts";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { MASK } from "../../model/credential.ts";
import { type Kinds, requireKind } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity, Manifest } from "../manifest.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import type { Step } from "./plan.ts";

/** The key and configuration that a plan is signed with. */
export type Signer = {
  readonly key: string;
  /** Keyed digest of a text: it cannot be guessed by trial without the key. */
  readonly keyed: (text: string) => string;
  readonly configuration: string;
};

/** The parts of a plan that its signature covers. */
export type Signable = {
  readonly steps: readonly Step[];
  readonly manifestOf: (identity: Identity) => Manifest | undefined;
  /** Each declared resource with the digest of its document. */
  readonly documents: () => Iterable<readonly [Identity, string | undefined]>;
  readonly liveOf: (identity: Identity) => Live | undefined;
  readonly kinds: Kinds;
};

/** Signs a plan as its file shows it, with what it was made from; steps without an action are left out. */
export function signPlan(shown: JsonObject, plan: Signable, signer: Signer): PlanSignature {
  const acting = plan.steps.filter(({ action }) => action !== "keep");
  const source: { [identity: Identity]: string } = {};
  const secrets: { [identity: Identity]: string } = {};
  const live: { [identity: Identity]: string | null } = {};
  for (const { identity } of acting) {
    live[identity] = liveStamp(plan.liveOf(identity));
    const manifest = plan.manifestOf(identity);
    if (manifest === undefined) continue;
    const { open, keyed } = digestsOf(manifest, plan, signer);
    source[identity] = open;
    if (keyed !== null) secrets[identity] = keyed;
  }
  const kept = keptDigests(plan, (identity) => Object.hasOwn(live, identity), signer);
  const inputs = { key: signer.key, configuration: signer.configuration, source, secrets, live, kept };
  const content = planDigest({ ...shown, seal: inputs });
  return { ...inputs, content, signature: signer.keyed(content) };
}

// Enough that the changes of two documents rarely share a bucket, and few enough for a small file.
const BUCKETS = 64;

/** Digests of the documents without a step, one per bucket. They are keyed, since documents may hold secrets. */
export function keptDigests(
  { documents }: Signable,
  hasStep: (identity: Identity) => boolean,
  { keyed }: Signer,
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

/** The digest of a manifest without its secrets, and the keyed digest with them; null when it has none. */
export function digestsOf(
  { kind, identity, value }: Manifest,
  { kinds }: Signable,
  { keyed }: Signer,
): { readonly open: string; readonly keyed: string | null } {
  let hasSecrets = false;
  const mask = (): Json => {
    hasSecrets = true;
    return MASK;
  };
  const open = jsonDigest(redactManifest(requireKind(kinds, kind).shape, value, { mask }));
  return { open, keyed: hasSecrets ? keyed(`${identity} ${canonical(value)}`) : null };
}

/** A stamp that changes with every change of the resource. */
export function liveStamp(live: Live | undefined): string | null {
  return live?.state === "present" ? live.row.stamp : (live?.state ?? null);
}

/** The members of a plan that its signature covers as they are, beside the steps that act. */
const COVERED = [
  "format_version",
  "revision",
  "server",
  "complete",
  "summary",
  "diagnostics",
  "policies",
  "allows",
  "approvals",
  "checksum",
] as const;

type Covered<File> = Pick<File, Extract<keyof File, (typeof COVERED)[number]>>;

/** The members of a plan's file that its signature covers as they are, without those that it lacks. */
export function coveredMembers<File extends object>(file: File): Covered<File> {
  const given = COVERED.map((name) => [name, (file as { readonly [name: string]: unknown })[name]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Covered<File>;
}

/** Digest of everything that a plan shows, so that an edit of its file is detected. */
export function planDigest(plan: JsonObject): string {
  const { steps, seal } = plan;
  const acting = Array.isArray(steps) ? steps.filter((step) => !isObject(step) || step.action !== "keep") : null;
  const { content: _, signature: __, ...bases } = isObject(seal) ? seal : {};
  return jsonDigest({ ...coveredMembers(plan), steps: acting, seal: bases });
}

/** Digest of a JSON value. */
export function jsonDigest(value: Json): string {
  return `sha256:${createHash("sha256").update(canonical(value)).digest("hex")}`;
}
