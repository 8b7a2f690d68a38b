import { isObject } from "../../contract/json.ts";
import { policyVariables } from "../../core/policies/policy-input.ts";
import { budgetedEnvironment, LINEAR_MATCHES } from "./budgeted-environment.ts";
import type { ExpressionSubject } from "./expression-subject.ts";

/** Why an expression has no answer, and the character that it is about. */
export type ExpressionError = { readonly message: string; readonly offset: number };

/** The answer of an expression: whether it finds something, or an error. */
export type ExpressionAnswer =
  | { readonly is: "answer"; readonly finds: boolean }
  | { readonly is: "error"; readonly error: ExpressionError };

/** An expression that can be evaluated. */
export type Expression = { readonly evaluate: (subject: ExpressionSubject) => ExpressionAnswer };

/** An expression that can be evaluated, or why it cannot. */
type Compiled =
  | { readonly is: "compiled"; readonly expression: Expression }
  | { readonly is: "faulty"; readonly error: ExpressionError };

/** Parses and checks an expression of a policy over steps or over the plan. */
export function compileExpression(text: string, over: "step" | "plan"): Compiled {
  try {
    const { parse, refill } = budgetedEnvironment(policyVariables[over]);
    const parsed = parse(text);
    const { valid, type, error } = parsed.check();
    if (!valid) return { is: "faulty", error: errorOf(error) };
    if (type !== "bool" && type !== "dyn")
      return { is: "faulty", error: { message: `it is ${article(type)}, and must be true or false`, offset: 0 } };
    const evaluate = (subject: ExpressionSubject): ExpressionAnswer => {
      refill();
      return answerOf(() => parsed({ ...subject }));
    };
    return { is: "compiled", expression: { evaluate } };
  } catch (error) {
    return { is: "faulty", error: errorOf(error) };
  }
}

function answerOf(evaluate: () => unknown): ExpressionAnswer {
  try {
    const value = evaluate();
    if (typeof value === "boolean") return { is: "answer", finds: value };
    const message = `it is ${article(typeNameOf(value))}, and must be true or false`;
    return { is: "error", error: { message, offset: 0 } };
  } catch (error) {
    return { is: "error", error: errorOf(error) };
  }
}

function typeNameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "bigint" ? "int" : typeof value === "object" ? "map" : typeof value;
}

function article(type = "unknown"): string {
  return type === "null" ? type : `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

function errorOf(error: unknown): ExpressionError {
  if (!(error instanceof Error)) return { message: String(error), offset: 0 };
  const summary = "summary" in error && typeof error.summary === "string" ? error.summary : error.message;
  const range = "range" in error && isObject(error.range) ? error.range : {};
  const [message = ""] = summary.split("\n");
  return {
    message: message.replaceAll(LINEAR_MATCHES, "matches"),
    offset: typeof range.start === "number" ? range.start : 0,
  };
}
