// src/daemon/commit-status: the commit status of each applied commit. See docs/operations.md#commit-status.

import { isObject, type Json } from "../../contract/json.ts";
import { reasonsText } from "../../core/report/pass-result.ts";
import { readGivenText } from "../../files/read-given-file.ts";
import type { ForgeStatus } from "../../forge/forge.ts";
import { type StatusPlace, statusRequest } from "../../forge/status-request.ts";
import { joinCounts } from "../../render/count-text.ts";
import type { EndedPass } from "../ended-pass.ts";
import { type Delivery, postWithRetry } from "../notify/post.ts";
import type { PassObserver } from "../pass-observer.ts";

/** Writes the outcome of each applied commit as its commit status; passes do not wait for it. */
export function createStatusWriter(
  { target, tokenFile, ...place }: StatusPlace & { readonly target: string; readonly tokenFile: string },
  delivery: Delivery,
  signal: AbortSignal,
): PassObserver {
  let last: { readonly commit: Json; readonly state: Json } | null = null;
  let writing = Promise.resolve();
  const write = async (status: ForgeStatus): Promise<void> => {
    const token = () => readGivenText(tokenFile).trim();
    const why = await postWithRetry(() => statusRequest(place, token(), status), delivery, signal);
    delivery.onEnd?.(target, why === null ? "delivered" : "failed");
    if (why !== null) delivery.onTrouble(`the status of commit ${status.commit} was not written: ${why}`);
  };
  return {
    memory: {
      name: "commit-status",
      told: () => last && { ...last },
      recall: (told) => {
        last = isObject(told) ? { commit: told.commit ?? null, state: told.state ?? null } : null;
      },
    },
    emit: () => {},
    failure: () => {},
    end: (pass) => {
      const status = commitStatusOf(pass, target);
      if (status === null) return;
      // A later pass over the same commit writes a status only if its state differs.
      if (last?.commit === status.commit && last.state === status.state) return;
      last = { commit: status.commit, state: status.state };
      writing = writing.then(() => write(status));
    },
  };
}

/** The status of the commit that a pass applied, or that waits for other targets; null if there is none. */
export function commitStatusOf(pass: EndedPass, target: string): ForgeStatus | null {
  const waiting = waitingStatusOf(pass, target);
  if (waiting !== null) return waiting;
  const { applied } = pass.seen;
  const { left } = pass.conclusion;
  const commit = applied?.report.revision ?? null;
  if (applied === null || commit === null || left === null) return null;
  const { summary } = applied.report;
  const description = reasonsText(left) ?? joinCounts(Object.entries(summary).map(([name, number]) => [number, name]));
  return { commit, name: `holdfast/${target}`, state: stateOf(left), description };
}

// What only waits for the end of a freeze has not failed.
function stateOf(left: readonly { readonly reason: string }[]): ForgeStatus["state"] {
  if (left.length === 0) return "success";
  return left.every(({ reason }) => reason === "Frozen") ? "pending" : "failure";
}

function waitingStatusOf({ conclusion: { reasons }, times }: EndedPass, target: string): ForgeStatus | null {
  const [first] = reasons;
  if (times.wanted === null || first === undefined) return null;
  const state = first.reason === "Halted" ? "failure" : first.reason === "Waiting" ? "pending" : null;
  if (state === null) return null;
  return { commit: times.wanted, name: `holdfast/${target}`, state, description: first.message };
}
