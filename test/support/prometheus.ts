import { createRequire } from "node:module";

/** A family of samples of Prometheus text. */
type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly { readonly value?: string; readonly labels?: { readonly [name: string]: string } }[];
};

// It has no types of its own.
const parse: (text: string) => readonly MetricFamily[] = createRequire(import.meta.url)("parse-prometheus-text-format");

/** The families of Prometheus text, by name. */
export function parsePrometheus(text: string): ReadonlyMap<string, MetricFamily> {
  return new Map(parse(text).map((family) => [family.name, family]));
}
