/** How much each sweep does: of its points and cases that many are drawn, and all of them where there are no more. */
export type Sizes = {
  readonly killPoints: number;
  readonly faults: number;
  readonly rounds: number;
  readonly stops: number;
  readonly commits: number;
};

const all = Number.POSITIVE_INFINITY;

/** `short` is part of `npm cit`, `long` is `npm run soak`, and `SOAK=all npm run soak` leaves nothing out. */
export const sizes = {
  short: { killPoints: 2, faults: 3, rounds: 1, stops: 1, commits: 1 },
  long: { killPoints: 60, faults: 200, rounds: 20, stops: all, commits: 20 },
  all: { killPoints: all, faults: all, rounds: 200, stops: all, commits: 400 },
} as const satisfies { readonly [size: string]: Sizes };

/** The sizes of this run. */
export const soakSizes: Sizes = process.env.SOAK === "all" ? sizes.all : sizes.long;
