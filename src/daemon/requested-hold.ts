import { HoldfastError } from "../core/errors.ts";
import { type Hold, isCommitPrefix, isStage, UNTIL_COMMIT } from "../core/holds.ts";
import { splitIdentity } from "../core/manifest.ts";
import { kindOf } from "../kinds/index.ts";
import { durationMs } from "../schema/duration.ts";

const MAX_REASON_LENGTH = 500;

/** A hold as a person asks for it. */
type HoldRequest = {
  readonly what: string;
  readonly reason: string | undefined;
  /** A time, a time from now such as 4h, or `commit`. */
  readonly until: string | undefined;
};

/** The hold that a person asks for; refuses one without a reason, or without an end in the future. */
export function requestedHold({ what, reason, until }: HoldRequest, now: number): Hold {
  return {
    what: holdable(what),
    reason: requireReason(reason),
    until: endOf(until, { what, now }),
  };
}

/** Checks that a text names a resource, a commit or a stage, which can be held. */
export function holdable(what: string): string {
  if (isCommitPrefix(what) || isStage(what)) return what;
  if (what.includes("/") && kindOf(splitIdentity(what).kind) !== undefined) return what;
  throw new HoldfastError("invalid", `${what} is neither a resource nor a commit, and no stage`, {
    hint: "write an identity such as service/c1:ws1/api, stage/NAME, or at least seven characters of a commit's id",
  });
}

function requireReason(reason: string | undefined): string {
  if (reason !== undefined && reason.trim() !== "" && reason.length <= MAX_REASON_LENGTH) return reason;
  throw new HoldfastError("invalid", "a hold needs a reason", { hint: "say why with --reason" });
}

function endOf(until: string | undefined, { what, now }: { readonly what: string; readonly now: number }): string {
  if (until !== UNTIL_COMMIT) return untilTime(until, now);
  if (!isCommitPrefix(what) && !isStage(what)) return until;
  const hint = isStage(what)
    ? "no commit is applied on a stage on hold: name a time, such as 4h"
    : "a newer commit is applied anyway: name a time for this one, such as 4h";
  throw new HoldfastError("invalid", "--until commit is for a resource", { hint });
}

function untilTime(until: string | undefined, now: number): string {
  const text = until ?? "";
  const at = /^\d{1,4}[mhd]$/.test(text) ? now + durationMs(text) : Date.parse(text);
  if (at > now) return new Date(at).toISOString();
  throw new HoldfastError("invalid", "a hold needs an end in the future", {
    hint: "name it with --until: 4h, 2d, a time such as 2027-03-31T12:00:00Z, or commit",
  });
}
