import { operations } from "../../contract/operations.ts";
import { hasContentOf } from "../../core/diff/compared-content.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { replaceValues, valuesIn } from "../../core/referenced-values.ts";
import type { Intent } from "../../state/ledger.ts";

/** Whether a write took effect, as live shows it. */
export type WriteEffect =
  | { readonly effect: "applied"; readonly row: LiveRow }
  | { readonly effect: "not-applied" }
  /** A version was created since, but with other content: another user's, or ours rewritten by the server. */
  | { readonly effect: "superseded" }
  | { readonly effect: "unreadable" };

/** Determines from live whether an intent took effect: live has a newer version, or content equal to what was sent. */
export function verifyWrite(kind: Kind, intent: Intent, live: Live): WriteEffect {
  if (live.state === "unknown") return { effect: "unreadable" };
  if (live.state === "absent") return { effect: "not-applied" };
  const { row } = live;
  if (kind.values !== undefined) return verifyValues(kind, intent, row);
  const { versionBefore, operation } = intent;
  const isOld = versionBefore !== null && row.version !== undefined && row.version <= versionBefore;
  // A version of a prompt or model also changes in place, in the fields outside its content.
  if (isOld && !kind.hasVersions) return { effect: "not-applied" };
  if (hasContentOf(kind, intent.manifest, row.manifest)) return { effect: "applied", row };
  return isOld || operations[operation].retry !== "version" ? { effect: "not-applied" } : { effect: "superseded" };
}

// Live shows no value. What has just been created has first versions, and what is written again changes nothing.
function verifyValues(kind: Kind, { creates, manifest }: Intent, row: LiveRow): WriteEffect {
  if (!creates) return { effect: "not-applied" };
  const [sent, found] = [manifest, row.manifest].map((one) => replaceValues(kind, one, () => null));
  const isFirst = valuesIn(kind, row.manifest).every(({ reference }) => reference === "version 1");
  return isFirst && sent !== undefined && found !== undefined && hasContentOf(kind, sent, found)
    ? { effect: "applied", row }
    : { effect: "superseded" };
}

/** The time by our clock and by the control plane's, in epoch milliseconds; the latter may be unknown. */
export type Times = { readonly now: number; readonly serverNow: number | null };

/**
 * Whether a resource was created since a request was first ready to be sent. The creation time and the current time both
 * come from the control plane; only the age of the request is measured by our clock. The current time is in whole seconds
 * (RFC 9110, 6.6.1), so a resource that others created within the second before counts as created since.
 */
export function isCreatedSince(at: Intent["at"], { createdAt = "" }: LiveRow, { now, serverNow }: Times): boolean {
  return at !== null && serverNow !== null && Date.parse(createdAt) >= serverNow - (now - at);
}
