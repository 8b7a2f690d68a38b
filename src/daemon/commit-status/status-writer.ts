import { readFileSync } from "node:fs";
import type { ApplyEvent } from "../../core/report/events.ts";
import { hasBadRollout, isDone } from "../../core/report/report.ts";
import type { ForgeStatus } from "../../forge/forge.ts";
import { type StatusPlace, statusRequest } from "../../forge/status-request.ts";
import { joinCounts } from "../../render/count-text.ts";
import { type Delivery, postWithRetry } from "../notify/post.ts";
import type { PassObserver } from "../pass-observer.ts";

/** Where commit statuses are written, and with which token. */
export type StatusWriterOptions = StatusPlace & { readonly target: string; readonly tokenFile: string };

/** Writes the outcome of each applied commit as its commit status; passes do not wait for it. */
export function createStatusWriter(
  { target, tokenFile, ...place }: StatusWriterOptions,
  delivery: Delivery,
  signal: AbortSignal,
): PassObserver {
  let last: ForgeStatus | null = null;
  let writing = Promise.resolve();
  const write = async (status: ForgeStatus): Promise<void> => {
    const token = () => readFileSync(tokenFile, "utf8").trim();
    const why = await postWithRetry(() => statusRequest(place, token(), status), delivery, signal);
    if (why !== null) delivery.onTrouble(`the status of commit ${status.commit} was not written: ${why}`);
  };
  return {
    emit: (event) => {
      const status = event.what === "applied" ? statusOf(event, target) : null;
      if (status === null) return;
      // A later pass over the same commit writes a status only if its state differs.
      if (last?.commit === status.commit && last.state === status.state) return;
      last = status;
      writing = writing.then(() => write(status));
    },
    failure: () => {},
  };
}

function statusOf({ report }: ApplyEvent, target: string): ForgeStatus | null {
  const { revision, summary, outcomes } = report;
  if (revision === null) return null;
  const rollouts = outcomes.filter(hasBadRollout).length;
  const { created, updated, unchanged, failed, blocked, skipped, unknown } = summary;
  const description = joinCounts([
    [created, "created"],
    [updated, "updated"],
    [unchanged, "unchanged"],
    [failed, "failed"],
    [blocked, "blocked"],
    [skipped, "skipped"],
    [unknown, "unknown"],
    [rollouts, "failed rollouts"],
  ]);
  return { commit: revision, name: `holdfast/${target}`, state: isDone(report) ? "success" : "failure", description };
}
