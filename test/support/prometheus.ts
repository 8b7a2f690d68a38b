import parse from "parse-prometheus-text-format";

type MetricFamily = ReturnType<typeof parse>[number];

/** The families of Prometheus text, by name. */
export function parsePrometheus(text: string): ReadonlyMap<string, MetricFamily> {
  return new Map(parse(text).map((family) => [family.name, family]));
}
