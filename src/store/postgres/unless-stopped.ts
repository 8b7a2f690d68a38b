import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { publicAddress } from "./address.ts";

/** How long a command that is stopped already waits, since it may have to record something. */
const STOPPED_MS = 1000;

/** How a database is waited for. */
type Waiting = { readonly address: Secret; readonly signal: AbortSignal | undefined; readonly clock: Clock };

/** Waits for what a database has to answer, but not after a signal that is aborted meanwhile. */
export async function unlessStopped<Answer>(
  asked: Promise<Answer>,
  { address, signal, clock }: Waiting,
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

/** A store that the first use opens, and the next one again where that failed; disposal closes it. */
type LazyStore<Tables> = AsyncDisposable & { readonly opened: () => Promise<Store<Tables>> };

/** Opens a store at its first use. What a signal that is aborted no longer waits for is closed once it is open. */
export function lazyStore<Tables>(open: () => Promise<Store<Tables>>, waiting: Waiting): LazyStore<Tables> {
  let opening: Promise<Store<Tables>> | null = null;
  const openUnlessStopped = async (): Promise<Store<Tables>> => {
    const asked = open();
    let isStopped = false;
    // Nobody waits for it any more.
    const closed = asked.then((store) => (isStopped ? store.close() : undefined));
    closed.catch(() => undefined);
    try {
      return await unlessStopped(asked, waiting);
    } catch (error) {
      isStopped = true;
      throw error;
    }
  };
  return {
    opened: () => {
      opening ??= openUnlessStopped().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    // Whoever opened it was told why it cannot be.
    [Symbol.asyncDispose]: async () => (await opening?.catch(() => null))?.close(),
  };
}
