import { createHash } from "node:crypto";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { MASK } from "../../model/credential.ts";
import type { Live } from "../live.ts";
import type { Identity, Manifest } from "../manifest.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import type { Step } from "./plan.ts";

/** What a plan rests on, by the identities of its steps: apply compares it with what it finds. */
export type Seal = {
  /** Names the key of the digests of secrets; the state keeps it. */
  readonly key: string;
  /** Digest of the configuration and of what was selected. */
  readonly configuration: string;
  /** Digest of each manifest with its secret values masked. */
  readonly source: { readonly [identity: Identity]: string };
  /** Keyed digest of each manifest that has secret values. */
  readonly secrets: { readonly [identity: Identity]: string };
  /** What changes whenever the resource does; null where live does not tell. */
  readonly live: { readonly [identity: Identity]: string | null };
  /** Keyed digests of the documents without a step, by shares of them. @default in plans of earlier releases there are none */
  readonly kept?: readonly string[];
};

/** A seal over everything that its plan shows. */
export type SignedSeal = Seal & {
  /** Digest of what the plan promises and shows. */
  readonly content: string;
  /** Keyed digest of that: whoever has the key sees that nobody else made the plan. */
  readonly signature: string;
};

/** What a plan is sealed with. */
export type Sealing = {
  readonly key: string;
  /** Digest of a text by that key: without it, nothing can be guessed by trying. */
  readonly keyed: (text: string) => string;
  readonly configuration: string;
};

/** What is sealed of a plan. */
export type Sealable = {
  readonly steps: readonly Step[];
  readonly manifestOf: (identity: Identity) => Manifest | undefined;
  /** Each declared resource with the digest of its document. */
  readonly documents: () => Iterable<readonly [Identity, string | undefined]>;
  readonly liveOf: (identity: Identity) => Live | undefined;
  readonly shapeOf: (type: string) => Shape;
};

/** Seals what a plan rests on; steps that do nothing are left out. */
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

// So many that a change of one document rarely hides behind that of another, and few enough for a small file.
const SHARES = 64;

/** Digests of the documents that have no step; of each share one. They are keyed, since documents may hold secrets. */
export function keptDigests(
  { documents }: Pick<Sealable, "documents">,
  hasStep: (identity: Identity) => boolean,
  { keyed }: Pick<Sealing, "keyed">,
): readonly string[] {
  const shares = Array.from({ length: SHARES }, (): string[] => []);
  for (const [identity, document = ""] of documents()) {
    if (!hasStep(identity)) shares[shareOf(identity)]?.push(`${identity} ${document}`);
  }
  return shares.map((share) => (share.length === 0 ? "" : keyed(share.toSorted().join("\n"))));
}

/** The share of the documents that an identity's is in. */
export function shareOf(identity: Identity): number {
  let sum = 0;
  for (let at = 0; at < identity.length; at += 1) sum = (sum * 31 + identity.charCodeAt(at)) % 0x10000;
  return sum % SHARES;
}

/** Signs a seal, and with it the plan as its file shows it. */
export function signSeal(plan: JsonObject, seal: Seal, { keyed }: Pick<Sealing, "keyed">): SignedSeal {
  const content = contentDigest({ ...plan, seal });
  return { ...seal, content, signature: keyed(content) };
}

/** The digest of a manifest without its secrets, and the keyed one with them; null where it has none. */
export function digestsOf(
  { kind, identity, value }: Manifest,
  { shapeOf }: Pick<Sealable, "shapeOf">,
  { keyed }: Pick<Sealing, "keyed">,
): { readonly open: string; readonly keyed: string | null } {
  let hasSecrets = false;
  const mask = (): Json => {
    hasSecrets = true;
    return MASK;
  };
  const shown = canonical(redactManifest(shapeOf(kind), value, { mask }));
  return { open: digest(shown), keyed: hasSecrets ? keyed(`${identity} ${canonical(value)}`) : null };
}

/** What changes whenever a resource does. */
export function liveStamp(live: Live | undefined): string | null {
  return live?.state === "present" ? live.row.stamp : (live?.state ?? null);
}

/** Digest of everything that a plan promises and shows: who edits its file has another plan. */
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
