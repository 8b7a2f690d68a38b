import { HoldfastError } from "../../core/errors.ts";
import { OTHER_WRITER } from "../../core/guards/other-writer.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { WriteResult } from "./write-job.ts";

/** The code of a write whose record could not be stored. */
export const LEDGER_UNWRITABLE = "ledger-unwritable";

/** Why no further writes are sent after this one; null when others may still succeed. */
export function stopAfter(written: WriteResult, { failFast }: { readonly failFast: boolean }): OutcomeError | null {
  if (written.state === "done") return written.notice?.code === OTHER_WRITER ? stopped(otherWriter) : null;
  if (written.state !== "failed" && written.state !== "unknown") return null;
  const { status, code } = written.error;
  // Every further write would be refused too, or could not be recorded.
  if (status === 401) return stopped("the control plane has refused the token");
  if (status === 412) return stopped("the lease was lost");
  if (code === LEDGER_UNWRITABLE) return stopped("the ledger cannot be written");
  if (code === OTHER_WRITER) return stopped(otherWriter);
  return failFast ? stopped("another step has failed, and --fail-fast ends the apply there") : null;
}

const otherWriter = "another writer is at work";

/** Why no further writes are sent after a stop request; null before one. */
export function interruptedStop({ aborted, reason }: AbortSignal): OutcomeError | null {
  if (!aborted) return null;
  return stopped(reason instanceof HoldfastError ? reason.message : "the run was asked to end");
}

function stopped(why: string): OutcomeError {
  return { code: "stopped", message: `not sent: ${why}` };
}
