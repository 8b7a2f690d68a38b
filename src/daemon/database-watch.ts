import type { Clock } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { type DatabaseSession, openDatabaseSession } from "../store/postgres/session.ts";

// A database is lost when two connections in turn do not answer: at most 12 seconds after it was.
const CHECK_MS = 2000;
const ANSWER_MS = 5000;

/** Whether the database of the state answers this process. */
export type DatabaseWatch = AsyncDisposable & {
  /** When it answered last, in epoch milliseconds, if it does not answer now; null while it does. */
  readonly lostSince: () => number | null;
  /** Reads from it; null while it does not answer, also if that is found before the end of the reading. */
  readonly read: <Result>(read: () => Promise<Result>) => Promise<Result | null>;
};

/** Asks a database every two seconds on a connection of its own, since the other ones may wait much longer for an answer. */
export function watchDatabase(address: Secret, clock: Clock): DatabaseWatch {
  const ended = new AbortController();
  let session: DatabaseSession | null = null;
  let answeredAt = clock.now();
  let lost = new AbortController();
  const close = async (): Promise<void> => {
    const closing = session;
    session = null;
    await closing?.[Symbol.asyncDispose]();
  };
  const answers = async (): Promise<boolean> => {
    try {
      session ??= await openDatabaseSession(address, { clock, answerMs: ANSWER_MS });
      await session.query("SELECT 1");
      return true;
    } catch {
      await close();
      return false;
    }
  };
  const check = async (): Promise<void> => {
    const hadSession = session !== null;
    // A single connection may break while the database goes on.
    if ((await answers()) || (hadSession && (await answers()))) {
      answeredAt = clock.now();
      if (lost.signal.aborted) lost = new AbortController();
    } else lost.abort();
  };
  const checking = (async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await check();
      await clock.sleep(CHECK_MS, { signal: ended.signal, ref: false }).catch(() => undefined);
    }
    await close();
  })();
  return {
    lostSince: () => (lost.signal.aborted ? answeredAt : null),
    read: async (read) => {
      const { signal } = lost;
      if (signal.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<null>();
      const onLost = (): void => resolve(null);
      signal.addEventListener("abort", onLost, { once: true });
      try {
        return await Promise.race([read(), promise]);
      } finally {
        signal.removeEventListener("abort", onLost);
      }
    },
    [Symbol.asyncDispose]: () => {
      ended.abort();
      return checking;
    },
  };
}
