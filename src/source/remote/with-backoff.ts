import { backoff } from "../../clock/backoff.ts";
import type { Clock } from "../../clock/clock.ts";
import { SourceError } from "../source-error.ts";
import type { Remote } from "./remote.ts";

/** A remote that is contacted less often while it fails. */
export type RemoteWithBackoff = Remote & {
  /** Ends the pause, so that the next fetch contacts the remote. */
  readonly retryNow: () => void;
  /** The commit of the last fetch that succeeded in this process; null before the first one. */
  readonly latest: () => string | null;
};

const BACKOFF = { first: 1000, most: 5 * 60_000 };

/**
 * Pauses after each failed fetch, doubling the pause up to five minutes. During a pause, a fetch fails with the last
 * error.
 */
export function withBackoff(remote: Remote, { monotonic: now }: Clock): RemoteWithBackoff {
  let latest: string | null = null;
  let last: { readonly error: SourceError; readonly failures: number; readonly retryAt: number } | null = null;
  return {
    ...remote,
    latest: () => latest,
    retryNow: () => {
      last = last && { ...last, retryAt: now() };
    },
    fetch: async (stop) => {
      if (last !== null && now() < last.retryAt) throw last.error;
      try {
        const fetched = await remote.fetch(stop);
        last = null;
        latest = fetched.commit;
        return fetched;
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
        const failures = (last?.failures ?? 0) + 1;
        last = { error, failures, retryAt: now() + backoff(failures, BACKOFF) };
        throw error;
      }
    },
  };
}
