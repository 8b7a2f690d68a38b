/** The source of randomness: a value handed in at the top. What must stay secret is not made from it. */
export type Random = {
  /** A number of at least 0 and less than 1. */
  readonly next: () => number;
  /** A UUID of version 4. */
  readonly id: () => string;
  /** That many bytes. */
  readonly bytes: (size: number) => Buffer;
};
