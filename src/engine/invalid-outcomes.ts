import { invalidOutcome, type Outcome } from "../core/report/report.ts";
import { timestampText } from "../core/timestamp-text.ts";
import type { Desired } from "./load/desired.ts";
import type { ServerSession } from "./session.ts";

/** The outcomes of the invalid manifests, each with what was written of it last. */
export async function invalidOutcomes(
  { refused }: Pick<Desired, "refused">,
  { ledger }: ServerSession,
): Promise<readonly Outcome[]> {
  if (refused.length === 0) return [];
  const recorded = await ledger.recorded(new Set(refused.map(({ identity }) => identity)));
  return refused.map((manifest) => {
    const last = recorded.get(manifest.identity);
    return invalidOutcome(manifest, last === undefined ? null : { at: timestampText(last.at), version: last.version });
  });
}
