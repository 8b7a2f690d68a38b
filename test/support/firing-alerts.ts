import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Alert } from "../../scripts/generate/monitoring/alert.ts";
import { evaluate, type Series } from "./promql/evaluate.ts";
import { durationMs, parsePromql } from "./promql/parse.ts";

/** Series by their names and labels, with samples in the notation of `promtool test rules`. */
type Input = { readonly [series: string]: string };

/** Whether an alert is expected to fire over these series. */
export type Expectation = {
  readonly alert: Alert;
  readonly after: number;
  readonly input: Input;
  readonly fires: boolean;
};

/** Why `promtool` cannot be asked; null if it can. */
export function whyNoPromtool(): string | null {
  return spawnSync("promtool", ["--version"]).error === undefined
    ? null
    : "promtool (Debian's prometheus) is not installed";
}

/** What `promtool check rules` and `promtool test rules` say against these expectations; empty if nothing. */
export function promtoolFaults(rules: object, expectations: readonly Expectation[]): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-rules-"));
  try {
    // A file for each alert, since every rule of a file is evaluated at every minute.
    const files = [...Map.groupBy(expectations, ({ alert }) => alert)].map(([alert, own]) => {
      const [rulesFile, testFile] = [`${alert.alert}.yaml`, `${alert.alert}.test.yaml`];
      writeFileSync(join(folder, rulesFile), stringify({ groups: [{ name: "alerts", rules: [alert] }] }));
      const whole = { rule_files: [rulesFile], evaluation_interval: "1m", tests: own.map(promtoolTest) };
      writeFileSync(join(folder, testFile), stringify(whole));
      return testFile;
    });
    writeFileSync(join(folder, "rules.yaml"), stringify(rules));
    const run = (...args: readonly string[]): string => {
      const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
      return status === 0 ? "" : stdout + stderr;
    };
    return run("check", "rules", "rules.yaml") + run("test", "rules", ...files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function promtoolTest({ alert, after, input, fires }: Expectation) {
  return {
    interval: "1m",
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `clamp_max(count(ALERTS{alertname="${alert.alert}",alertstate="firing"}), 1) or vector(0)`,
        eval_time: `${after}m`,
        exp_samples: [{ labels: "{}", value: fires ? 1 : 0 }],
      },
    ],
  };
}

/** Whether an alert fires, by the tests' own evaluation of its expression, once a minute. */
export function isFiring({ alert: { expr, for: holds = "0s" }, after, input }: Expectation): boolean {
  const expression = parsePromql(expr);
  const series = Object.entries(input).map(([name, values]) => seriesOf(name, values));
  const minutes = durationMs(holds) / 60_000;
  let active = new Map<string, number>();
  for (let minute = 0; minute <= after; minute += 1) {
    const now = evaluate(expression, series, minute).map(({ labels }) => JSON.stringify(labels));
    active = new Map(now.map((key) => [key, active.get(key) ?? minute]));
  }
  return [...active.values()].some((since) => after - since >= minutes);
}

function seriesOf(text: string, values: string): Series {
  const [name = "", rest = ""] = text.split("{");
  const labels = Array.from(rest.matchAll(/(\w+)="([^"]*)"/g), ([, label = "", value = ""]) => [label, value] as const);
  return { labels: { __name__: name, ...Object.fromEntries(labels) }, samples: values.split(" ").flatMap(samplesOf) };
}

// `1`, `_`, `1+2x3` (1 and three more, each by 2 larger) and `_x3`.
function samplesOf(text: string): readonly (number | null)[] {
  const [, first = "", step = "0", times = "0"] = /^(_|\d+)(?:\+(\d+))?(?:x(\d+))?$/.exec(text) ?? [];
  if (first === "_") return Array<null>(Math.max(1, Number(times))).fill(null);
  return Array.from({ length: Number(times) + 1 }, (_, nth) => Number(first) + nth * Number(step));
}
