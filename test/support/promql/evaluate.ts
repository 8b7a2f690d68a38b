import type { Expression, Matcher } from "./parse.ts";

/** A series with its samples, one a minute from zero on; null where there is none. */
export type Series = { readonly labels: Labels; readonly samples: readonly (number | null)[] };

type Labels = { readonly [name: string]: string };
type Sample = { readonly labels: Labels; readonly value: number };

const MINUTE = 60_000;
// For how long Prometheus takes the last sample as the current one.
const LOOKBACK = 5;

/** The result of an expression at a minute; a number is a sample without labels. */
export function evaluate(expression: Expression, series: readonly Series[], minute: number): readonly Sample[] {
  const run = (one: Expression): readonly Sample[] => evaluate(one, series, minute);
  switch (expression.is) {
    case "number":
      return [{ labels: {}, value: expression.value }];
    case "series":
      return series
        .filter((one) => selects(expression, one))
        .flatMap(({ labels, samples }) => {
          const recent = samples
            .slice(Math.max(0, minute - LOOKBACK + 1), minute + 1)
            .findLast((value) => value !== null);
          return recent === undefined || recent === null ? [] : [{ labels, value: recent }];
        });
    case "aggregate":
      return aggregated(expression, run(expression.of));
    case "call":
      return called(expression, { run, series, minute });
    case "binary":
      return combined(expression, run(expression.left), run(expression.right));
  }
}

function selects({ name, matchers }: Extract<Expression, { is: "series" }>, { labels }: Series): boolean {
  return labels.__name__ === name && matchers.every((one) => matches(one, labels[one.label] ?? ""));
}

function matches({ operator, value }: Matcher, label: string): boolean {
  const is = operator.includes("~") ? new RegExp(`^(?:${value})$`).test(label) : label === value;
  return operator.startsWith("!") ? !is : is;
}

type Now = {
  readonly run: (one: Expression) => readonly Sample[];
  readonly series: readonly Series[];
  readonly minute: number;
};

function called({ name, args }: Extract<Expression, { is: "call" }>, { run, series, minute }: Now): readonly Sample[] {
  const [first, second] = args;
  if (name === "time") return [{ labels: {}, value: minute * 60 }];
  if (first === undefined) throw new SyntaxError(`${name} needs an argument`);
  if (name === "absent") return run(first).length === 0 ? [{ labels: {}, value: 1 }] : [];
  if (name === "histogram_quantile" && second !== undefined) return quantiles(run(first)[0]?.value ?? 0, run(second));
  if (first.is !== "series" || first.rangeMs === null) throw new SyntaxError(`${name} needs a range`);
  const minutes = first.rangeMs / MINUTE;
  return series
    .filter((one) => selects(first, one))
    .flatMap(({ labels, samples }) => {
      const window = samples.slice(Math.max(0, minute - minutes), minute + 1).filter((value) => value !== null);
      const value = overTime(name, window, minutes);
      return value === null ? [] : [{ labels: unnamed(labels), value }];
    });
}

// Without the extrapolation to the edges of the window, which moves no alert across its threshold here.
function overTime(name: string, window: readonly number[], minutes: number): number | null {
  if (name === "min_over_time") return window.length === 0 ? null : Math.min(...window);
  if (name !== "increase" && name !== "rate") throw new SyntaxError(`${name} is not understood`);
  if (window.length < 2) return null;
  // After a restart a counter begins at zero.
  const steps = window.slice(1).map((value, nth) => (value < (window[nth] ?? 0) ? value : value - (window[nth] ?? 0)));
  const increase = steps.reduce((sum, step) => sum + step, 0);
  return name === "increase" ? increase : increase / (minutes * 60);
}

function quantiles(wanted: number, buckets: readonly Sample[]): readonly Sample[] {
  const groups = Map.groupBy(buckets, ({ labels: { le: _, ...rest } }) => keyOf(unnamed(rest)));
  return [...groups.values()].flatMap((group) => {
    const sorted = group
      .map(({ labels, value }) => ({ le: labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le), value }))
      .toSorted((a, b) => a.le - b.le);
    const all = sorted.at(-1)?.value ?? 0;
    if (all === 0) return [];
    const above = sorted.findIndex(({ value }) => value >= wanted * all);
    const [low, high] = [sorted[above - 1] ?? { le: 0, value: 0 }, sorted[above] ?? { le: 0, value: 0 }];
    const { le: _, ...labels } = unnamed(group[0]?.labels ?? {});
    if (high.le === Number.POSITIVE_INFINITY) return [{ labels, value: low.le }];
    const share = (wanted * all - low.value) / (high.value - low.value);
    return [{ labels, value: low.le + (high.le - low.le) * share }];
  });
}

function aggregated(
  { name, by }: Extract<Expression, { is: "aggregate" }>,
  samples: readonly Sample[],
): readonly Sample[] {
  const groups = Map.groupBy(samples, ({ labels }) => keyOf(picked(labels, by)));
  return [...groups.values()].map((group) => {
    const values = group.map(({ value }) => value);
    const value = name === "max" ? Math.max(...values) : values.reduce((sum, one) => sum + one, 0);
    return { labels: picked(group[0]?.labels ?? {}, by), value };
  });
}

function combined(
  { operator, match, left: leftIs, right: rightIs }: Extract<Expression, { is: "binary" }>,
  left: readonly Sample[],
  right: readonly Sample[],
): readonly Sample[] {
  const key = ({ labels }: Sample): string => {
    if (match?.how === "on") return keyOf(picked(labels, match.labels));
    const ignored = new Set(match?.labels);
    return keyOf(Object.fromEntries(Object.entries(unnamed(labels)).filter(([name]) => !ignored.has(name))));
  };
  const others = new Map(right.map((one) => [key(one), one]));
  if (operator === "and") return left.filter((one) => others.has(key(one)));
  if (operator === "unless") return left.filter((one) => !others.has(key(one)));
  if (operator === "or") {
    const known = new Set(left.map(key));
    return [...left, ...right.filter((one) => !known.has(key(one)))];
  }
  const isScalar = (one: Expression): boolean => one.is === "number" || (one.is === "call" && one.name === "time");
  // A scalar on the left is the one side, whatever the labels of the other are.
  const pairs = isScalar(rightIs)
    ? left.map((one) => [one, one, right[0]] as const)
    : isScalar(leftIs)
      ? right.map((one) => [one, left[0], one] as const)
      : left.map((one) => [one, one, others.get(key(one))] as const);
  return pairs.flatMap(([shown, a, b]) => {
    if (a === undefined || b === undefined) return [];
    return outcome(operator, shown, a.value, b.value);
  });
}

function outcome(operator: string, shown: Sample, a: number, b: number): readonly Sample[] {
  const comparisons: { readonly [operator: string]: boolean } = {
    "==": a === b,
    "!=": a !== b,
    ">": a > b,
    "<": a < b,
    ">=": a >= b,
    "<=": a <= b,
  };
  const holds = comparisons[operator];
  if (holds !== undefined) return holds ? [{ labels: shown.labels, value: a }] : [];
  const results: { readonly [operator: string]: number } = { "+": a + b, "-": a - b, "*": a * b, "/": a / b };
  return [{ labels: unnamed(shown.labels), value: results[operator] ?? Number.NaN }];
}

function unnamed({ __name__: _, ...labels }: Labels): Labels {
  return labels;
}

function picked(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name] ?? ""]])));
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted());
}
