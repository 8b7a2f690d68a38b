import { requireRead } from "../../core/manifest.ts";
import { equalRecorded, isRecordOf, type Recorded, requireOpened } from "../../core/recorded.ts";
import { kindOf } from "../../kinds/index.ts";
import type { Ledger } from "../../state/ledger.ts";
import type { LivePlan } from "../plan.ts";
import { createReceipt } from "./receipt.ts";

/**
 * Records equal resources that have no record, or another one: later drift is then distinguishable from a later change of
 * the manifest.
 */
export async function recordEqual(
  { plan, decisions, desired, observation: { live }, recorded }: LivePlan,
  ledger: Ledger,
  at: number,
): Promise<void> {
  const manifests = new Map(desired.manifests.map((manifest) => [manifest.identity, manifest]));
  const receipts = plan.steps.flatMap(({ action, identity, kind: type }): Recorded[] => {
    const [manifest, found, head] = [manifests.get(identity), live.get(identity), recorded.get(identity)];
    if (action !== "keep" || manifest === undefined || found?.state !== "present") return [];
    const { row } = found;
    const known = head === undefined ? null : requireOpened(head);
    if (known !== null && isRecordOf(known, requireRead(manifest).value, row.manifest)) return [];
    const kind = kindOf(type);
    if (kind === undefined) return [];
    const ignored = decisions.get(identity)?.ignored ?? [];
    const sent = { kind, identity, written: requireRead(manifest).value, ignored };
    const receipt = createReceipt(sent, row, { known, at });
    return known !== null && equalRecorded(known, receipt) ? [] : [receipt];
  });
  if (receipts.length > 0) await ledger.record(receipts);
}
