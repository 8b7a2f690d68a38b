import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import { StoreError } from "../store-error.ts";
import { publicAddress } from "./address.ts";

/** How long a command that is stopped already waits, since it may have to record something. */
const STOPPED_MS = 1000;

/** Waits for what a database has to answer, but not after a signal that is aborted meanwhile. */
export async function unlessStopped<Answer>(
  asked: Promise<Answer>,
  {
    address,
    signal,
    clock,
  }: { readonly address: Secret; readonly signal: AbortSignal | undefined; readonly clock: Clock },
): Promise<Answer> {
  if (signal === undefined) return asked;
  const stopped = Promise.withResolvers<never>();
  const stop = (): void =>
    stopped.reject(
      new StoreError("unreachable", `${publicAddress(address)}: it has not answered`, { cause: signal.reason }),
    );
  signal.addEventListener("abort", stop, { once: true });
  using _ = signal.aborted ? clock.after(STOPPED_MS, stop) : null;
  try {
    return await Promise.race([asked, stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
