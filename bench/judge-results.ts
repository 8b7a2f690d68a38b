import { type Measured, median } from "./alternate-runs.ts";
import type { Run } from "./run-program.ts";

/** One line of the table. */
export type Row = {
  readonly measure: string;
  readonly goal: string;
  readonly figure: string;
  readonly verdict: "met" | "missed" | "told";
  readonly detail: string;
};

/** Judges how long ours takes in multiples of the floor. */
export function judgeTime(measure: string, measured: Measured, { atMost }: { readonly atMost: number }): Row {
  const [ours, floor] = times(measured);
  const ratio = ours / floor;
  return {
    measure,
    goal: `≤ ${atMost} × floor`,
    figure: `${ratio.toFixed(2)} ×`,
    verdict: ratio <= atMost ? "met" : "missed",
    detail: `${ours.toFixed(0)} ms, floor ${floor.toFixed(0)} ms`,
  };
}

/** Judges at what rate ours sends in multiples of the floor's, from the first write to the reply to the last. */
export function judgeSending(
  measure: string,
  measured: Measured,
  { atLeast, count }: { readonly atLeast: number; readonly count: number },
): Row {
  const { ratio, ...row } = rate(measure, times(measured, sending), count);
  return { ...row, goal: `≥ ${atLeast} × floor`, verdict: ratio >= atLeast ? "met" : "missed" };
}

/** Tells the rate of whole processes, of which ours reads and plans besides: no goal is set for that. */
export function tellRate(measure: string, measured: Measured, { count }: { readonly count: number }): Row {
  const { ratio: _, ...row } = rate(measure, times(measured), count);
  return { ...row, goal: "", verdict: "told" };
}

type Rate = Pick<Row, "measure" | "figure" | "detail"> & { readonly ratio: number };

function rate(measure: string, [ours, floor]: readonly [number, number], count: number): Rate {
  const perSecond = (milliseconds: number) => ((count * 1000) / milliseconds).toFixed(0);
  const ratio = floor / ours;
  const detail = `${perSecond(ours)} per s, floor ${perSecond(floor)} per s`;
  return { measure, figure: `${ratio.toFixed(2)} ×`, detail, ratio };
}

/** The median time for which runs or passes kept a processor busy. */
export function busy(runs: readonly Pick<Run, "busyMilliseconds">[]): number {
  return median(runs.map(({ busyMilliseconds }) => busyMilliseconds));
}

/** The median time that runs or passes took by the clock. */
export function clock(runs: readonly Pick<Run, "milliseconds">[]): number {
  return median(runs.map(({ milliseconds }) => milliseconds));
}

/** Judges the passes of a daemon in multiples of a cold plan: how long they take, or keep a processor busy. */
export function judgePasses(measure: string, times: readonly number[], limit: { readonly atMost: number }): Row {
  return judgeTimes(measure, times, { ...limit, unit: "cold plan" });
}

/** Judges a time in multiples of another one. */
export function judgeTimes(
  measure: string,
  [time = Number.NaN, other = Number.NaN]: readonly number[],
  { atMost, unit = "" }: { readonly atMost: number; readonly unit?: string },
): Row {
  const ratio = time / other;
  return {
    measure,
    goal: `≤ ${atMost} × ${unit}`.trim(),
    figure: `${ratio.toFixed(2)} ×`,
    verdict: ratio <= atMost ? "met" : "missed",
    detail: `${time.toFixed(0)} ms, ${unit || "against"} ${other.toFixed(0)} ms`,
  };
}

/** Judges the share of a processor that a daemon takes while nothing happens. */
export function judgeRest(measure: string, share: number, { atMost }: { readonly atMost: number }): Row {
  const percent = (value: number) => `${(100 * value).toFixed(2)} %`;
  return {
    measure,
    goal: `≤ ${percent(atMost)} of a core`,
    figure: percent(share),
    verdict: share <= atMost ? "met" : "missed",
    detail: "",
  };
}

/** Judges the peak memory of ours. */
export function judgePeak(measure: string, { ours, floor }: Measured, { atMost }: { readonly atMost: number }): Row {
  const [mine, bare] = [ours, floor].map((runs) => median(runs.map(({ peakMegabytes }) => peakMegabytes)));
  return {
    measure,
    goal: `≤ ${atMost} MB`,
    figure: `${mine?.toFixed(0)} MB`,
    verdict: (mine ?? Number.NaN) <= atMost ? "met" : "missed",
    detail: `floor ${bare?.toFixed(0)} MB`,
  };
}

/** Judges the most memory that a process has had. */
export function judgeMemory(measure: string, megabytes: number, { atMost }: { readonly atMost: number }): Row {
  return {
    measure,
    goal: `≤ ${atMost} MB`,
    figure: `${megabytes.toFixed(0)} MB`,
    verdict: megabytes <= atMost ? "met" : "missed",
    detail: "",
  };
}

/** Judges how long ours takes by the clock. */
export function judgeClock(measure: string, { ours }: Measured, { atMost }: { readonly atMost: number }): Row {
  return judgeMilliseconds(
    measure,
    ours.map(({ milliseconds }) => milliseconds),
    { atMost },
  );
}

/** Judges the median of times. */
export function judgeMilliseconds(
  measure: string,
  times: readonly number[],
  { atMost }: { readonly atMost: number },
): Row {
  const took = median(times);
  return {
    measure,
    goal: `≤ ${atMost} ms`,
    figure: `${took.toFixed(0)} ms`,
    verdict: took <= atMost ? "met" : "missed",
    detail: "",
  };
}

/**
 * Judges by what power of their number more manifests take longer: at most so, or no more than for the floor, which waits
 * for the same replies of the same control plane.
 */
export function judgeGrowth(
  measure: string,
  { from, to, factor }: { readonly from: Measured; readonly to: Measured; readonly factor: number },
  { atMost }: { readonly atMost: number },
): Row {
  const [before, after] = [times(from), times(to)];
  const exponentOf = (which: 0 | 1): number => Math.log(after[which] / before[which]) / Math.log(factor);
  const [ours, floor] = [exponentOf(0), exponentOf(1)];
  return {
    measure,
    goal: `exponent ≤ ${atMost}, or the floor's`,
    figure: ours.toFixed(2),
    verdict: ours <= Math.max(atMost, floor) ? "met" : "missed",
    detail: `${before[0].toFixed(0)} ms, then ${after[0].toFixed(0)} ms; floor ${floor.toFixed(2)}`,
  };
}

/** The exit code of a bench: 1 if a goal was missed. */
export function exitCodeOf(rows: readonly Row[]): 0 | 1 {
  return rows.some(({ verdict }) => verdict === "missed") ? 1 : 0;
}

/** The rows as a Markdown table, columns padded for the eye. */
export function table(rows: readonly Row[]): string {
  const columns = ["measure", "goal", "figure", "verdict", "detail"] as const;
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(columns), rule, ...rows.map((row) => line(columns.map((column) => row[column])))].join("\n");
}

function times(
  { ours, floor }: Measured,
  took: (run: Run) => number = ({ milliseconds }) => milliseconds,
): readonly [number, number] {
  return [median(ours.map(took)), median(floor.map(took))];
}

function sending({ sendingMilliseconds }: Run): number {
  return sendingMilliseconds ?? Number.NaN;
}
