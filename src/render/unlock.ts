import type { UnlockReport } from "../core/report/report.ts";
import { printable } from "./escape.ts";

/** Who had state folder and leases, and what is free now. */
export function unlockText({ leftBy, scope, broken }: UnlockReport): string {
  const left = leftBy === null ? "nobody has it" : `left by ${printable(leftBy)}, which has ended`;
  return [
    `state folder: ${left}; free`,
    ...broken.map((lease) => `lease on ${printable(lease.scope)}: broken; it was ${holderText(lease)}`),
    scope === null ? "leases: this control plane has none" : `lease on ${printable(scope)}: free`,
    "",
  ].join("\n");
}

/** Who has a lease, and until when. */
export function holderText({ holder, until }: UnlockReport["broken"][number]): string {
  return `that of ${printable(holder)}, who renews it no more and would have had it until ${printable(until)}`;
}
