import type { Orphan } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { InvalidManifest } from "../invalid-manifest.ts";
import { type Identity, splitIdentity } from "../manifest.ts";
import type { OrphanInput } from "./plan-input.ts";

/** An identity that the source no longer declares, and what is known of it. */
export type FoundOrphan = Orphan & { readonly identity: Identity };

const THIS_CHANGE = { commit: null, author: null, at: null };

/**
 * Resources that still live, or may, and that the source no longer declares: recorded ones, those that the history has
 * declared, and with a base those that the change removes. What another target declares is none.
 */
export function findOrphans(input: OrphanInput): readonly FoundOrphan[] {
  const { recorded, live, removed, base } = input;
  return undeclaredIn(input)
    .filter((identity) => declarersOf(identity, input.nameless).length === 0)
    .map((identity) => {
      const found = live.get(identity);
      const isHidden = found?.state === "unknown" && found.reason === "not-visible";
      const by = base?.has(identity) ? THIS_CHANGE : removed.get(identity);
      return {
        identity,
        recorded: recorded.has(identity),
        isLive: found?.state !== "unknown" || found.exists === true,
        ...(isHidden ? { notVisible: true as const } : {}),
        ...(by === undefined ? {} : { removedBy: by }),
      };
    });
}

/** A warning about resources that no manifest declares that can be read: one that cannot may declare them. */
export function unclearOrphans(input: OrphanInput): readonly Diagnostic[] {
  if (input.nameless.length === 0) return [];
  const unclear = undeclaredIn(input).filter((identity) => declarersOf(identity, input.nameless).length > 0);
  if (unclear.length === 0) return [];
  const [first] = unclear.flatMap((identity) => declarersOf(identity, input.nameless));
  const names = unclear.slice(0, MAX_NAMED).join(", ");
  const more = unclear.length > MAX_NAMED ? `, and ${unclear.length - MAX_NAMED} more` : "";
  const summary = `the manifest of ${names}${more} may be one that cannot be read`;
  const detail = "These do not count as orphans until every manifest says what it declares.";
  const place = { file: first?.file ?? null, line: first?.line ?? null, column: first?.line == null ? null : 1 };
  return [{ severity: "warning", code: "may-be-declared", summary, detail, ...place }];
}

const MAX_NAMED = 3;

/** The invalid manifests that may declare an identity: those of its kind, or of no known kind, that do not say which. */
export function declarersOf(identity: Identity, nameless: OrphanInput["nameless"]): readonly InvalidManifest[] {
  const { kind } = splitIdentity(identity);
  return nameless.filter((one) => one.kind === "" || one.kind === kind);
}

function undeclaredIn(input: OrphanInput): readonly Identity[] {
  const { declared, elsewhere, live } = input;
  return [...knownIn(input)]
    .filter((identity) => !declared.has(identity) && !elsewhere.has(identity) && live.get(identity)?.state !== "absent")
    .toSorted(compareText);
}

/** Every identity that may be an orphan; most of them are declared. */
export function knownIn({
  recorded,
  base,
  applied,
  removed,
}: Pick<OrphanInput, "base" | "applied" | "removed"> & {
  readonly recorded: ReadonlyMap<Identity, unknown>;
}): ReadonlySet<Identity> {
  const compared = base === null ? [] : [...base.keys(), ...(applied?.keys() ?? [])];
  return new Set([...recorded.keys(), ...compared, ...removed.keys()]);
}
