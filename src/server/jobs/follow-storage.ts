import type { Readiness } from "../../http/health.ts";
import { StoreError, storageErrorText } from "../../store/store-error.ts";
import type { Context } from "../context.ts";
import { STORAGE_FULL, STORAGE_UNAVAILABLE, storageHttpError } from "../http/storage-http-error.ts";
import { RecurringTask } from "./recurring-task.ts";

const CALM_MS = 5000;
const FAILING_MS = 1000;

/** Follows the readiness of the storage from now on; it is ready at first. */
export function followStorage(
  readiness: (onError: (error: unknown) => void) => Promise<Readiness>,
  { log, clock }: Context,
): AsyncDisposable & {
  /** A request has failed; the error may be one of the storage. */
  readonly failed: (error: unknown) => void;
} {
  let failing: { readonly reason: string; readonly since: number } | null = null;
  const fail = (reason: string, cause: string | null): void => {
    if (failing?.reason === reason) return;
    failing = { reason, since: failing?.since ?? clock.now() };
    const isFull = reason === STORAGE_FULL;
    if (isFull) log.error({ event: "degraded", reason, cause }, "degraded: writes are refused, reads are answered");
    else log.error({ event: "not-ready", reason, cause }, "not ready");
  };
  const check = async (): Promise<number> => {
    let cause: string | null = null;
    const current = await readiness((error) => {
      cause = causeText(error);
    });
    if (current.is === "degraded" || current.is === "not-ready") {
      fail(current.reason, cause);
      return clock.now() + FAILING_MS;
    }
    if (failing !== null) {
      const durationMs = clock.now() - failing.since;
      log.info({ event: "recovered", durationMs }, `recovered after ${Math.round(durationMs / 1000)} s`);
    }
    failing = null;
    return clock.now() + CALM_MS;
  };
  const task = new RecurringTask(check, clock, (error) => fail(STORAGE_UNAVAILABLE, causeText(error)));
  task.at(clock.now() + CALM_MS);
  return {
    failed: (error) => {
      const reason = storageHttpError(error)?.code;
      if (reason !== STORAGE_FULL && reason !== STORAGE_UNAVAILABLE) return;
      fail(reason, causeText(error));
      task.at(clock.now() + FAILING_MS);
    },
    [Symbol.asyncDispose]: () => task.close(),
  };
}

// The innermost error has the words of the database.
function causeText(error: unknown): string {
  if (error instanceof StoreError && error.cause instanceof Error) return causeText(error.cause);
  return error instanceof Error && error.message !== "" ? error.message : storageErrorText(error);
}
