import { spawnSync } from "node:child_process";
import parse from "parse-prometheus-text-format";

const UNITS =
  /_(?:ms|milliseconds?|minutes?|hours?|days?|micros|nanos|kb|kib|mb|mib|gb|kilobytes|megabytes|percent)(?:_|$)/;

/** What is wrong with Prometheus text, by the rules of `promtool check metrics`; `promtool` says it where it is installed. */
export function metricFaults(text: string): readonly string[] {
  const promtool = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  const own = ownFaults(text);
  if (promtool.error !== undefined) return own;
  return [...own, ...(promtool.status === 0 ? [] : [promtool.stderr + promtool.stdout])];
}

function ownFaults(text: string): readonly string[] {
  return parse(text).flatMap(({ name, help, type, metrics }) => {
    const isDistribution = type === "HISTOGRAM" || type === "SUMMARY";
    const labels = metrics.flatMap((one) => Object.keys(one.labels ?? {}));
    const fault = (is: boolean, what: string): readonly string[] => (is ? [`${name}: ${what}`] : []);
    return [
      ...fault(help === "", "has no help"),
      ...fault(!/^(?:COUNTER|GAUGE|HISTOGRAM|SUMMARY)$/.test(type), `has the type ${type}`),
      ...fault((type === "COUNTER") !== name.endsWith("_total"), "only counters end in _total, and all of them do"),
      ...fault(!/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name), "is not in snake case"),
      ...fault(/(?:^|_)(?:counter|gauge|histogram|summary)(?:_|$)/.test(name), "names its type"),
      ...fault(UNITS.test(name), "is not in base units"),
      ...fault(!isDistribution && /_(?:count|sum|bucket)$/.test(name), "ends like a part of a histogram"),
      ...fault(
        !isDistribution && labels.some((label) => label === "le" || label === "quantile"),
        "has a label of a histogram",
      ),
      ...fault(
        labels.some((label) => !/^[a-z][a-z0-9_]*$/.test(label)),
        "has a label that is not in snake case",
      ),
    ];
  });
}
