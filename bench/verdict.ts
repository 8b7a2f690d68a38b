import { type Measured, median } from "./pairs.ts";

/** One line of the table. */
export type Row = {
  readonly measure: string;
  readonly goal: string;
  readonly figure: string;
  readonly verdict: "met" | "missed";
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

/** Judges our rate in multiples of the floor's. */
export function judgeRate(
  measure: string,
  measured: Measured,
  { atLeast, count }: { readonly atLeast: number; readonly count: number },
): Row {
  const [ours, floor] = times(measured).map((milliseconds) => (count * 1000) / milliseconds);
  const ratio = (ours ?? 0) / (floor ?? 1);
  return {
    measure,
    goal: `≥ ${atLeast} × floor`,
    figure: `${ratio.toFixed(2)} ×`,
    verdict: ratio >= atLeast ? "met" : "missed",
    detail: `${ours?.toFixed(0)} per s, floor ${floor?.toFixed(0)} per s`,
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

/** Judges how long ours takes by the clock. */
export function judgeClock(measure: string, { ours }: Measured, { atMost }: { readonly atMost: number }): Row {
  const took = median(ours.map(({ milliseconds }) => milliseconds));
  return {
    measure,
    goal: `≤ ${atMost} ms`,
    figure: `${took.toFixed(0)} ms`,
    verdict: took <= atMost ? "met" : "missed",
    detail: "",
  };
}

/** Judges by what power of their number more manifests take longer. */
export function judgeGrowth(
  measure: string,
  { from, to, factor }: { readonly from: Measured; readonly to: Measured; readonly factor: number },
  { atMost }: { readonly atMost: number },
): Row {
  const [[before], [after]] = [times(from), times(to)];
  const exponent = Math.log(after / before) / Math.log(factor);
  return {
    measure,
    goal: `exponent ≤ ${atMost}`,
    figure: exponent.toFixed(2),
    verdict: exponent <= atMost ? "met" : "missed",
    detail: `${before.toFixed(0)} ms, then ${after.toFixed(0)} ms`,
  };
}

/** The rows as a Markdown table, columns padded for the eye. */
export function table(rows: readonly Row[]): string {
  const columns = ["measure", "goal", "figure", "verdict", "detail"] as const;
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(columns), rule, ...rows.map((row) => line(columns.map((column) => row[column])))].join("\n");
}

function times({ ours, floor }: Measured): readonly [number, number] {
  const middle = (runs: Measured["ours"]) => median(runs.map(({ milliseconds }) => milliseconds));
  return [middle(ours), middle(floor)];
}
