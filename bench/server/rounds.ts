import { median } from "../alternate-runs.ts";
import type { BenchServer } from "../start-server.ts";
import type { Ask, Load, Round } from "./load.ts";

/** A server, the connections to it, and what it is asked. */
export type Side = {
  readonly serving: BenchServer;
  readonly load: Load;
  readonly asks: (round: number) => readonly Ask[];
};

/** What alternating rounds came to: medians of each side, and of the ratio within each pair. */
export type Compared = {
  /** How many times as long ours took as the other. */
  readonly slower: number;
  /** The same of processor time, which others on the machine disturb less. */
  readonly busier: number;
  readonly oursPerSecond: number;
  readonly otherPerSecond: number;
  readonly ours: readonly Round[];
};

/** Asks both in turn, A B A B, after one uncounted round of each. */
export async function compare(
  ours: Side,
  other: Side,
  { rounds, inFlight }: { readonly rounds: number; readonly inFlight: number },
): Promise<Compared> {
  const pairs: (readonly [Timed, Timed])[] = [];
  for (let nth = 0; nth <= rounds; nth += 1) {
    const pair = [await timed(ours, nth, inFlight), await timed(other, nth, inFlight)] as const;
    if (nth > 0) pairs.push(pair);
  }
  const perSecond = (side: 0 | 1) =>
    median(pairs.map((pair) => pair[side].round.count / pair[side].round.milliseconds));
  return {
    slower: median(pairs.map(([mine, theirs]) => mine.round.milliseconds / theirs.round.milliseconds)),
    busier: sum(pairs.map(([mine]) => mine.busy)) / sum(pairs.map(([, theirs]) => theirs.busy)),
    oursPerSecond: perSecond(0) * 1000,
    otherPerSecond: perSecond(1) * 1000,
    ours: pairs.map(([mine]) => mine.round),
  };
}

type Timed = { readonly round: Round; readonly busy: number };

async function timed({ serving, load, asks }: Side, nth: number, inFlight: number): Promise<Timed> {
  const before = serving.busyMilliseconds();
  const round = await load.round(asks(nth), inFlight);
  return { round, busy: serving.busyMilliseconds() - before };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
