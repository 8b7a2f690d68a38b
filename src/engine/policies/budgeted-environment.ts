import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";

/** What one evaluation may take in units of work, and the size of any list or text on the way. */
const BUDGET = { work: 200_000, items: 20_000, characters: 1024 * 1024 } as const;

/** Of the expression itself. */
const LIMITS = { maxAstNodes: 2000, maxDepth: 100, maxListElements: 500, maxMapEntries: 500, maxCallArguments: 32 };

/** The length of a pattern. */
const MAX_PATTERN = 500;

/** The part of the library that visits the nodes of an expression. */
type Visitor = { run: (node: Visited, context: unknown) => unknown };
type Visited = {
  readonly evaluate: (visitor: Visitor, node: Visited, context: unknown) => unknown;
  readonly op?: string;
  readonly pos?: number;
};

/** Takes work from the budget, for a node at a place; what goes beyond it ends the evaluation. */
type Spend = (work: number, pos?: number, why?: string) => void;

/** An environment whose expressions stop at a budget, and what gives it back for the next evaluation. */
export function budgetedEnvironment(variables: { readonly [name: string]: string }): {
  readonly parse: (text: string) => ParseResult;
  readonly refill: () => void;
} {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: LIMITS,
  });
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);
  let left: number = BUDGET.work;
  const spend: Spend = (work, pos = 0, why = `it takes more than ${BUDGET.work} steps`) => {
    // Operators go on after an error, so the budget stays spent.
    left -= Math.ceil(work);
    if (left < 0) throw new ExpressionBudgetError(why, pos);
  };
  environment.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, (text: string, pattern: string) => {
    spend(text.length / 10);
    return matchesLinearly(text, pattern);
  });
  countVisits(environment, spend);
  return {
    parse: (text) => {
      const parsed = environment.parse(text);
      renameMatches(parsed.ast, new Set());
      return parsed;
    },
    refill: () => {
      left = BUDGET.work;
    },
  };
}

// The library bounds expressions, but not what they do: each visit of a node is counted, and its result is measured.
function countVisits(environment: Environment, spend: Spend): void {
  let operands: unknown[] = [];
  const probe = environment.parse("true");
  Object.assign(probe.ast, {
    evaluate: (visitor: Visitor) => {
      visitor.run = (node, context) => {
        spend(1, node.pos);
        const outer = operands;
        operands = [];
        try {
          const result = node.evaluate(visitor, node, context);
          spend(workOf(node, result, operands), node.pos);
          const excess = excessOf(result);
          if (excess !== null) spend(Number.POSITIVE_INFINITY, node.pos, excess);
          outer.push(result);
          return result;
        } finally {
          operands = outer;
        }
      };
      return true;
    },
  });
  probe();
}

const COMPARING = new Set(["==", "!=", "in"]);
const COPYING = new Set(["+", "call", "rcall"]);

/** The work of a visit that its number of nodes does not show: comparing values, and making lists and texts. */
function workOf({ op = "" }: Visited, result: unknown, operands: readonly unknown[]): number {
  if (COMPARING.has(op)) return operands.reduce<number>((sum, one) => sum + sizeOf(one), 0) / 20;
  if (typeof result === "string") return result.length / 100;
  return COPYING.has(op) && Array.isArray(result) ? result.length / 20 : 0;
}

/** The number of values in a value, as far as it matters. */
function sizeOf(value: unknown, most = 1_000_000): number {
  if (typeof value === "string") return value.length / 10;
  const inner = value instanceof Map ? value.values() : Array.isArray(value) ? value : [];
  let size = 1;
  for (const one of inner) {
    if (size >= most) break;
    size += sizeOf(one, most - size);
  }
  return size;
}

function excessOf(result: unknown): string | null {
  if (typeof result === "string" && result.length > BUDGET.characters)
    return `it has a text of more than ${BUDGET.characters} characters`;
  if (Array.isArray(result) && result.length > BUDGET.items) return `it has a list of more than ${BUDGET.items} items`;
  return null;
}

class ExpressionBudgetError extends Error {
  override readonly name = "ExpressionBudgetError";
  readonly range: { readonly start: number };

  constructor(message: string, start: number) {
    super(message);
    this.range = { start };
  }
}

/** The name of `matches` for the library, whose own takes for ever over some patterns. */
export const LINEAR_MATCHES = "matches_linear";

function renameMatches(node: unknown, seen: Set<unknown>): void {
  if (typeof node !== "object" || node === null || seen.has(node)) return;
  seen.add(node);
  if (Array.isArray(node)) {
    for (const one of node) renameMatches(one, seen);
    return;
  }
  const { op, args } = node as { readonly op?: unknown; readonly args?: unknown };
  if (op === "rcall" && Array.isArray(args) && args[0] === "matches") args[0] = LINEAR_MATCHES;
  renameMatches(args, seen);
}

function matchesLinearly(text: string, pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) throw new Error(`a pattern of more than ${MAX_PATTERN} characters`);
  try {
    return RE2JS.compile(pattern).matcher(text).find();
  } catch (cause) {
    throw new Error(`the pattern is wrong: ${cause instanceof Error ? cause.message : ""}`, { cause });
  }
}
