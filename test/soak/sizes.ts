/** How much each sweep does: of its points and cases that many are drawn, and all of them where there are no more. */
export type Sizes = {
  readonly killPoints: number;
  readonly faults: number;
  readonly rounds: number;
  readonly stops: number;
  readonly commits: number;
  /** How often one of two daemons is killed or stopped, and how long their leases last. */
  readonly kills: number;
  readonly leaseSeconds: number;
  /** From how many earlier schemas of each database an upgrade is tried. */
  readonly schemas: number;
  /** Every how many system calls of a start one is tried. */
  readonly everyCall: number;
};

const all = Number.POSITIVE_INFINITY;

/** `short` is part of `npm cit` (where starts have tests of their own), `long` is `npm run soak`, and `SOAK=all npm run soak` leaves nothing out. */
export const sizes = {
  short: {
    killPoints: 2,
    faults: 2,
    rounds: 1,
    stops: 1,
    commits: 1,
    kills: 1,
    leaseSeconds: 3,
    schemas: 0,
    everyCall: all,
  },
  long: {
    killPoints: 24,
    faults: 60,
    rounds: 6,
    stops: 12,
    commits: 6,
    kills: 12,
    leaseSeconds: 10,
    schemas: 2,
    everyCall: 7,
  },
  all: {
    killPoints: all,
    faults: all,
    rounds: 200,
    stops: all,
    commits: 400,
    kills: 100,
    leaseSeconds: 10,
    schemas: all,
    everyCall: 1,
  },
} as const satisfies { readonly [size: string]: Sizes };

/** The sizes of this run. */
export const soakSizes: Sizes = process.env.SOAK === "all" ? sizes.all : sizes.long;
