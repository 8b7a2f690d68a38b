import { type Program, type Run, runProgram } from "./run-program.ts";

/** Two programs that do the same work: ours, and the floor under it. */
export type Pair = { readonly ours: () => Promise<Program>; readonly floor: () => Promise<Program> };

/** What alternating runs of a pair took. */
export type Measured = { readonly ours: readonly Run[]; readonly floor: readonly Run[] };

/** Runs both in turn, A B A B, after one uncounted run of each; preparing a program is not measured. */
export async function alternateRuns(
  { ours, floor }: Pair,
  { pairs, note }: { readonly pairs: number; readonly note: (line: string) => void },
): Promise<Measured> {
  const runs: (readonly [Run, Run])[] = [];
  for (let nth = 0; nth <= pairs; nth += 1) {
    const mine = await runProgram(await ours());
    const bare = await runProgram(await floor());
    const label = nth === 0 ? "warm-up" : `pair ${nth}`;
    note(`  ${label}: ${mine.milliseconds.toFixed(0)} ms, floor ${bare.milliseconds.toFixed(0)} ms`);
    if (nth > 0) runs.push([mine, bare]);
  }
  return { ours: runs.map(([mine]) => mine), floor: runs.map(([, bare]) => bare) };
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
