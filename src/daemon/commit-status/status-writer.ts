import type { ApplyEvent } from "../../core/report/events.ts";
import { applyConclusion, reasonsText } from "../../core/report/pass-result.ts";
import { readGivenText } from "../../files/read-given-file.ts";
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
    const token = () => readGivenText(tokenFile).trim();
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

function statusOf(event: ApplyEvent, target: string): ForgeStatus | null {
  const { revision, summary } = event.report;
  if (revision === null) return null;
  const { result, reasons } = applyConclusion(event);
  const description =
    reasonsText(reasons) ?? joinCounts(Object.entries(summary).map(([name, number]) => [number, name]));
  const state = result === "applied" ? "success" : "failure";
  return { commit: revision, name: `holdfast/${target}`, state, description };
}
