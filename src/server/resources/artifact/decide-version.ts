/** A stored version: its number, its content, and its manifest without the number, both as comparable text. */
export type VersionRow = { readonly version: number; readonly content: string; readonly manifest: string };

/** A requested version; `version` is null when the server chooses the number. */
export type WantedVersion = { readonly version: number | null; readonly content: string; readonly manifest: string };

/** The decision on a write of a versioned manifest. */
export type VersionDecision<Stored extends VersionRow> =
  | { readonly decision: "create"; readonly version: number }
  /** The content is equal, but a field that may change in place differs. */
  | { readonly decision: "update"; readonly existing: Stored }
  | { readonly decision: "keep"; readonly existing: Stored }
  /** The content differs, but versions are immutable. */
  | { readonly decision: "conflict"; readonly version: number }
  /** The number is higher than the next one. */
  | { readonly decision: "gap"; readonly next: number };

/** Decides a write from the newest version and the one with the requested number, each null when absent. */
export function decideVersion<Stored extends VersionRow>(
  wanted: WantedVersion,
  { newest, numbered }: { readonly newest: Stored | null; readonly numbered: Stored | null },
): VersionDecision<Stored> {
  const next = (newest?.version ?? 0) + 1;
  if (wanted.version === null) {
    return newest?.content === wanted.content ? inPlace(wanted, newest) : { decision: "create", version: next };
  }
  if (wanted.version > next) return { decision: "gap", next };
  if (numbered === null && wanted.version === next) return { decision: "create", version: next };
  if (numbered?.content !== wanted.content) return { decision: "conflict", version: wanted.version };
  return inPlace(wanted, numbered);
}

function inPlace<Stored extends VersionRow>(wanted: WantedVersion, existing: Stored): VersionDecision<Stored> {
  return { decision: existing.manifest === wanted.manifest ? "keep" : "update", existing };
}
