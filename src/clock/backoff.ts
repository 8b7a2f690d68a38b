/** How the waits between tries grow. */
export type Backoff = {
  /** Milliseconds after the first try. */
  readonly first: number;
  readonly most: number;
  /** What each wait is multiplied by for the next one. @default 2 */
  readonly growth?: number;
};

/** Milliseconds to wait after try `attempt`, counted from 1; a `random` number within 0 … 1 gives full jitter. */
export function backoff(attempt: number, { first, most, growth = 2 }: Backoff, random = 1): number {
  return Math.round(random * Math.min(most, first * growth ** (attempt - 1)));
}
