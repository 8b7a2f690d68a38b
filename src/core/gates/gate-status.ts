import type { GateStatus, WhyGate } from "../../contract/generated/output.ts";
import type { Kind } from "../kind.ts";
import type { Identity } from "../manifest.ts";
import { jsonDigest } from "../plan/sign-plan.ts";
import { type ContentGate, type GateReceipt, gateName, gatesOf, gateText } from "./content-gate.ts";

/** The number of receipts that a status names. */
const MAX_CLOSED = 10;

/** What the gates in force said last of each resource; receipts of gates that were defined otherwise do not count. */
export function gateStatus(gates: readonly ContentGate[], receipts: readonly GateReceipt[]): GateStatus {
  const inForce = new Map(gates.map((gate) => [jsonDigest(gateText(gate)), gate]));
  const last = new Map(
    receipts
      .filter(({ gate }) => inForce.has(gate))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
      .map((receipt) => [`${receipt.gate} ${receipt.identity}`, receipt]),
  );
  const all = [...last.values()].toSorted((a, b) => (a.at > b.at ? -1 : 1));
  const { pass = [], fail = [], unanswered = [] } = Object.groupBy(all, ({ verdict }) => verdict);
  const closed = all.flatMap(({ content: _, gate, verdict, ...shown }) =>
    verdict === "pass" ? [] : [{ ...shown, verdict, place: inForce.get(gate)?.place ?? null }],
  );
  return {
    passed: pass.length,
    failed: fail.length,
    unanswered: unanswered.length,
    closed: closed.slice(0, MAX_CLOSED),
  };
}

/** A resource as its gates are asked about it. */
export type GateSubjectDigest = { readonly identity: Identity; readonly kind: Kind; readonly content: string };

/** What each gate of a resource said last of exactly this content; the verdict is null where it was not asked about it. */
export function receiptsOf(
  { identity, kind, content }: GateSubjectDigest,
  gates: readonly ContentGate[],
  receipts: readonly GateReceipt[],
): readonly WhyGate[] {
  return gatesOf(gates, identity, kind).map((gate) => {
    const digest = jsonDigest(gateText(gate));
    const found = receipts.findLast(
      (one) => one.identity === identity && one.content === content && one.gate === digest,
    );
    const { verdict = null, score = null, summary = null, at = null } = found ?? {};
    return { name: gateName(gate), place: gate.place, verdict, score, summary, at };
  });
}
