import { FORMAT_VERSION } from "../../core/format-version.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import type { RecordsEvent } from "../../core/report/events.ts";
import type { RecordsReport } from "../../core/report/report.ts";

/** A resource whose record stays unchanged, and why. */
export type KeptRecord = Omit<RecordsReport["left"][number], "kind">;

type Changed = { readonly changed: readonly Identity[]; readonly left: readonly KeptRecord[] };

/** The end of a pass that has created or dropped records. */
export function recordsEvent(
  action: RecordsReport["action"],
  server: string,
  { changed, left }: Changed,
): RecordsEvent {
  const report: RecordsReport = {
    format_version: FORMAT_VERSION,
    server,
    action,
    changed: changed.map((identity) => ({ identity, kind: splitIdentity(identity).kind })),
    left: left.map(({ identity, why }) => ({ identity, kind: splitIdentity(identity).kind, why })),
    diagnostics: [],
  };
  return { what: "records", report };
}
