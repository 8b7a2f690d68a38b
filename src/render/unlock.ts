import type { UnlockReport } from "../core/report/report.ts";
import { printable } from "./escape.ts";

/** The previous holders of the state folder and leases, and what is free now. */
export function unlockText({ leftBy, scope, broken }: UnlockReport): string {
  const left = leftBy === null ? "not held" : `left by ${printable(leftBy)}, which has ended`;
  return [
    `state folder: ${left}; free`,
    ...broken.map((lease) => `lease on ${printable(lease.scope)}: broken; it was ${holderText(lease)}`),
    scope === null ? "leases: this control plane has none" : `lease on ${printable(scope)}: free`,
    "",
  ].join("\n");
}

/** The holder of a lease and its expiry. */
export function holderText({ holder, until }: UnlockReport["broken"][number]): string {
  return `held by ${printable(holder)}, which no longer renews it and would have held it until ${printable(until)}`;
}
