/** As much of PromQL as the alerts use; where `promtool` is installed, it evaluates the same expressions. */
export type Expression =
  | { readonly is: "number"; readonly value: number }
  | {
      readonly is: "series";
      readonly name: string;
      readonly matchers: readonly Matcher[];
      readonly rangeMs: number | null;
    }
  | { readonly is: "call"; readonly name: string; readonly args: readonly Expression[] }
  | { readonly is: "aggregate"; readonly name: string; readonly by: readonly string[]; readonly of: Expression }
  | {
      readonly is: "binary";
      readonly operator: string;
      readonly match: { readonly how: "on" | "ignoring"; readonly labels: readonly string[] } | null;
      readonly left: Expression;
      readonly right: Expression;
    };

/** A condition on a label. */
export type Matcher = { readonly label: string; readonly operator: string; readonly value: string };

const PRECEDENCE = [["or"], ["and", "unless"], ["==", "!=", ">=", "<=", ">", "<"], ["+", "-"], ["*", "/"]];
const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration such as `15m`. */
export function durationMs(text: string): number {
  const [, number, unit = ""] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new SyntaxError(`${text} is no duration`);
  return Number(number) * factor;
}

/** Parses an expression; throws at what the alerts do not use. */
export function parsePromql(text: string): Expression {
  const tokens = text.match(/"[^"]*"|\d+[smhd]|[\d.]+|\w+|=~|!~|[!=<>]=|\S/g) ?? [];
  let at = 0;
  const peek = () => tokens[at] ?? "";
  const take = (expected?: string): string => {
    const token = peek();
    if (token === "" || (expected !== undefined && token !== expected))
      throw new SyntaxError(`${text}: ${expected ?? "more"} is expected at ${token}`);
    at += 1;
    return token;
  };
  const listOf = <Item>(open: string, close: string, item: () => Item): readonly Item[] => {
    take(open);
    const items: Item[] = [];
    while (peek() !== close) {
      items.push(item());
      if (peek() !== close) take(",");
    }
    take(close);
    return items;
  };
  const labels = () => listOf("(", ")", () => take());
  const binary = (level: number): Expression => {
    const operators = PRECEDENCE[level];
    if (operators === undefined) return primary();
    let left = binary(level + 1);
    while (operators.includes(peek())) {
      const operator = take();
      const how = peek();
      const match = how === "on" || how === "ignoring" ? { how: take() as typeof how, labels: labels() } : null;
      left = { is: "binary", operator, match, left, right: binary(level + 1) } as const;
    }
    return left;
  };
  const matcher = (): Matcher => {
    const [label, operator, value] = [take(), take(), take()];
    return { label, operator, value: value.slice(1, -1) };
  };
  const primary = (): Expression => {
    if (peek() === "(") {
      take();
      const inner = binary(0);
      take(")");
      return inner;
    }
    const word = take();
    if (/^[\d.]+$/.test(word)) return { is: "number", value: Number(word) };
    if (word === "sum" || word === "max") return aggregate(word);
    if (peek() === "(") return { is: "call", name: word, args: listOf("(", ")", () => binary(0)) };
    const matchers = peek() === "{" ? listOf("{", "}", matcher) : [];
    if (peek() !== "[") return { is: "series", name: word, matchers, rangeMs: null };
    const [range = ""] = listOf("[", "]", () => take());
    return { is: "series", name: word, matchers, rangeMs: durationMs(range) };
  };
  const aggregate = (name: string): Expression => {
    let by: readonly string[] = [];
    if (peek() === "by") {
      take();
      by = labels();
    }
    take("(");
    const of = binary(0);
    take(")");
    return { is: "aggregate", name, by, of };
  };
  const whole = binary(0);
  if (at < tokens.length) throw new SyntaxError(`${text}: ${peek()} is not understood`);
  return whole;
}
