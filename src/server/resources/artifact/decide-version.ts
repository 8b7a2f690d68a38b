/** A version that is kept: its number, what makes it, and its manifest but for the number, both as comparable text. */
export type VersionRow = { readonly version: number; readonly content: string; readonly manifest: string };

/** What a write asks for; `version` is null when the manifest leaves the number to the server. */
export type WantedVersion = { readonly version: number | null; readonly content: string; readonly manifest: string };

/** What a write of a versioned manifest comes to. */
export type VersionDecision<Kept extends VersionRow> =
  | { readonly decision: "create"; readonly version: number }
  /** The content is equal and a field that may change in place differs. */
  | { readonly decision: "update"; readonly existing: Kept }
  | { readonly decision: "keep"; readonly existing: Kept }
  /** Versions are immutable. */
  | { readonly decision: "conflict"; readonly version: number }
  /** The number is further ahead than the next one. */
  | { readonly decision: "gap"; readonly next: number };

/** Decides a write from the newest version of the name and the one the manifest numbers, each null when absent. */
export function decideVersion<Kept extends VersionRow>(
  wanted: WantedVersion,
  { newest, numbered }: { readonly newest: Kept | null; readonly numbered: Kept | null },
): VersionDecision<Kept> {
  const next = (newest?.version ?? 0) + 1;
  if (wanted.version === null) {
    return newest?.content === wanted.content ? inPlace(wanted, newest) : { decision: "create", version: next };
  }
  if (wanted.version > next) return { decision: "gap", next };
  if (numbered === null && wanted.version === next) return { decision: "create", version: next };
  if (numbered?.content !== wanted.content) return { decision: "conflict", version: wanted.version };
  return inPlace(wanted, numbered);
}

function inPlace<Kept extends VersionRow>(wanted: WantedVersion, existing: Kept): VersionDecision<Kept> {
  return { decision: existing.manifest === wanted.manifest ? "keep" : "update", existing };
}
