import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { TargetPatterns } from "../targets/configured-patterns.ts";

/** What is done when the patterns of targets stand for others, or cannot be read. */
type OnTargets = {
  readonly onChange: () => Promise<void>;
  /** Called with the reason once, until it is another one. */
  readonly onKept: (why: string) => void;
};

/** The interval between looks at a local folder. */
const POLL_MS = 500;

/** Follows the patterns of targets: with each new commit of a remote, and in a local folder again and again, until the signal is aborted. */
export async function followTargets(
  patterns: TargetPatterns | null,
  { onChange, onKept }: OnTargets,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  if (patterns === null) return;
  const { expanded, following, expandAgain, areLocal } = patterns;
  let told = expanded.kept?.message ?? null;
  let changing: Promise<void> | null = null;
  const tell = (why: string | null): void => {
    if (why !== null && why !== told) onKept(why);
    told = why;
  };
  const look = async (): Promise<void> => {
    const next = await expandAgain();
    tell(next.kept?.message ?? null);
    if (isDeepStrictEqual(next.entries, expanded.entries)) return;
    const names = new Set(next.entries.map(({ name }) => name));
    following.gone = new Set(expanded.entries.flatMap(({ name }) => (names.has(name) ? [] : [name])));
    // Passes do not wait until the other targets are opened.
    changing ??= onChange().finally(() => {
      changing = null;
    });
  };
  following.check = async () => {
    if (!signal.aborted) await look().catch((error: unknown) => tell(errorMessage(error)));
  };
  try {
    for (;;) {
      await clock.sleep(POLL_MS, { signal, ref: false });
      if (areLocal) await following.check();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await changing;
}
