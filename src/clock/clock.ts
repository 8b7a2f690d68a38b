// src/clock: the time and the randomness that are handed in from the top. See docs/architecture.md#source-folders.

/** The time, and what waits for it: a value handed in at the top, so that nothing else reads or waits for the real one. */
export type Clock = {
  /** Epoch milliseconds, by the system clock. */
  readonly now: () => number;
  /** Milliseconds since an arbitrary moment; a change of the system clock does not move them. */
  readonly monotonic: () => number;
  /** Resolves after that time; rejects when the signal is aborted. */
  readonly sleep: (milliseconds: number, options?: TimerOptions & { readonly signal?: AbortSignal }) => Promise<void>;
  /** Calls once after that time, unless it is disposed before. */
  readonly after: (milliseconds: number, call: () => void, options?: TimerOptions) => Disposable;
  /** Calls again and again after that time, until it is disposed. */
  readonly every: (milliseconds: number, call: () => void, options?: TimerOptions) => Disposable;
  /** A signal that is aborted after that time; it does not keep the process alive. */
  readonly timeout: (milliseconds: number) => AbortSignal;
  /** Resolves in the next turn of the event loop. */
  readonly turn: () => Promise<void>;
};

/** How a timer treats the process. */
export type TimerOptions = {
  /** Whether the timer keeps the process alive. @default true */
  readonly ref?: boolean;
};
/** How work is stopped: it ends soon after the signal is aborted, and throws its reason. */
export type Stop = { readonly signal: AbortSignal };
