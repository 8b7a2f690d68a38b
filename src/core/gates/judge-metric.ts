import { equal, isObject, type Json } from "../../contract/json.ts";
import type { ContentGate, GateAnswer } from "./content-gate.ts";

/** A registered version with the content in question. */
export type RegisteredVersion = {
  /** `repo/name@3`. */
  readonly name: string;
  /** When it was registered, in epoch milliseconds by the clock of the control plane; not a number where it does not say. */
  readonly registeredAt: number;
  /** Its metrics as the registry returned them; null for a kind without metrics. */
  readonly metrics: Json | undefined;
};

/** An answer that is not green, since nothing was learned. */
export function unanswered(summary: string): GateAnswer {
  return { verdict: "unanswered", score: null, summary };
}

/** The version that was registered last; null where there is none. */
export function newestVersion(versions: readonly RegisteredVersion[]): RegisteredVersion | null {
  return versions.toSorted((a, b) => (b.registeredAt || 0) - (a.registeredAt || 0))[0] ?? null;
}

/** Judges a version by one of its metrics, at the greatest step of that metric. */
export function judgeMetric(
  { metric, atLeast, atMost }: Extract<ContentGate, { readonly is: "metric" }>,
  version: RegisteredVersion,
): GateAnswer {
  const { name, metrics } = version;
  if (metrics === undefined || metrics === null) return unanswered(`${name} has no metrics`);
  if (!Array.isArray(metrics)) return unanswered(`the metrics of ${name} are not a list`);
  const measured = metrics.filter(isObject).filter(({ key }) => key === metric);
  const last = lastOf(measured);
  if (last === undefined) return unanswered(`${name} has no metric ${metric}${othersText(metrics)}`);
  const value = last[0]?.value;
  if (typeof value !== "number" || !Number.isFinite(value))
    return unanswered(`the metric ${metric} of ${name} is not a number`);
  if (last.some((one) => !equal(one.value, value)))
    return unanswered(`${name} has several values of ${metric} at its last step`);
  const isLow = atLeast !== null && !(value >= atLeast);
  const isHigh = atMost !== null && !(value <= atMost);
  const verdict = isLow || isHigh ? "fail" : "pass";
  const bound = isLow ? `, below ${atLeast}` : isHigh ? `, above ${atMost}` : "";
  return { verdict, score: value, summary: `${value} for ${name}${bound}` };
}

type Measurement = { readonly [name: string]: Json | undefined };

// The step counts, then the time: a clock that was set back moves no step.
function lastOf(measured: readonly Measurement[]): readonly Measurement[] | undefined {
  const orderOf = ({ step, timestamp }: Measurement) => [numberOf(step), numberOf(timestamp)] as const;
  const groups = Map.groupBy(measured, (one) => orderOf(one).join(" "));
  return [...groups.values()].toSorted(([a = {}], [b = {}]) => {
    const [[stepA, timeA], [stepB, timeB]] = [orderOf(a), orderOf(b)];
    return stepB - stepA || timeB - timeA;
  })[0];
}

function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : -Number.MAX_VALUE;
}

function othersText(metrics: readonly Json[]): string {
  const keys = metrics.filter(isObject).flatMap(({ key }) => (typeof key === "string" ? [key] : []));
  const known = [...new Set(keys)].toSorted();
  if (known.length === 0) return ": it has none";
  return `: it has ${known.slice(0, 10).join(", ")}${known.length > 10 ? " …" : ""}`;
}
