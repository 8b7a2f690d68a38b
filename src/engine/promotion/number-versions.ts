import type { Stop } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import { requireKind } from "../../core/kind.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import { unnumbered, withVersions } from "../../core/promotion/version-fields.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";
import { usedBy } from "../../model/references.ts";
import { withTextAt } from "../../model/rename-fqns.ts";
import { versionNumberOf } from "../gates/registered-versions.ts";
import type { ReadAccess } from "../session.ts";

/** What is promoted, and the manifest of the other target that gets it. */
export type PromotionPair<One extends SourceHead = SourceHead> = {
  readonly candidate: PromotionCandidate;
  readonly manifest: One;
};

/** The number that the target promoted to has for a version of the other one, or why it is not known. */
export type VersionNumbers = ReadonlyMap<Identity, number | { readonly fault: string }>;

/** A version of the target that is promoted from, by its number there. */
export function numberedAs({ as, live: { version } }: PromotionCandidate): Identity {
  return `${unnumbered(as)}@${typeof version === "number" ? version : 0}`;
}

/**
 * Numbers the promoted versions as the registry of the target does: each registry counts by itself. Only those are asked
 * about whose number a manifest says.
 */
export async function versionNumbers(
  pairs: readonly PromotionPair<SourceHead & Manifest>[],
  { reader, signal }: Stop & Pick<ReadAccess, "reader">,
): Promise<VersionNumbers> {
  const used = new Set(
    pairs.flatMap(({ candidate }) => usedBy(candidate.live).map(({ kind, key }) => `${kind}/${key}`)),
  );
  const numbers = new Map<Identity, number | { readonly fault: string }>();
  for (const { candidate, manifest } of pairs) {
    const kind = requireKind(kindsByType, manifest.kind);
    const name = numberedAs(candidate);
    const { value } = requireRead(manifest);
    if (!kind.hasVersions || (value.version === undefined && !used.has(name))) continue;
    const paths = candidate.fields.map(({ path }) => path);
    const after = withVersions(kind, value, candidate.live, paths);
    const isKnown = typeof value.version === "number" && equal(value, after);
    const asked = (): Promise<number | { readonly fault: string }> =>
      versionNumberOf(kind, after, { registry: { reader }, signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        return { fault: errorMessage(error) };
      });
    numbers.set(name, isKnown ? Number(value.version) : await asked());
  }
  return numbers;
}

/** What is live, with the numbers that the target promoted to has for the versions that it refers to. */
export function withNumbers(live: JsonObject, numbers: VersionNumbers): JsonObject {
  let value = live;
  for (const { kind, key, pointer } of usedBy(live)) {
    const number = numbers.get(`${kind}/${key}`);
    if (typeof number === "number")
      value = withTextAt(value, pointerTokens(pointer), (text) => text.replace(/:\d+$/, `:${number}`));
  }
  return value;
}
