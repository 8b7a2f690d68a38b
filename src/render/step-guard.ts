import { guardDetail } from "../core/guards/step-guards.ts";
import type { Plan, Step } from "../core/plan/plan.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

/** Why an apply without a person refuses the step, and what allows it. */
export function guardLines(
  { guard, action }: Step,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  // What is missing from the source is refused as a whole.
  if (guard === undefined || action === "orphan") return [];
  return wrapWords(`guard: ${printable(guardDetail(guard.dangers))}`, { indent: "    ", width }).map((line) =>
    paint("red", line),
  );
}

/** `12 steps need --allow-privilege`: what guards refuse, by what allows it. */
export function guardCounts({ summary: { refused }, steps }: Plan): readonly (readonly [number, string])[] {
  const guarded = steps.flatMap(({ guard }) => (guard === undefined ? [] : [guard.flags]));
  const needs = guarded.flatMap((flags) => (flags.length === 0 ? ["a person at a terminal"] : flags));
  // A selection has no steps for what is missing from the source.
  const missing = Array.from({ length: refused - guarded.length }, () => "--allow-shrink");
  const counts = Map.groupBy([...needs, ...missing], (need) => need);
  return [...counts].map(([need, { length }]) => {
    const what = need === "--allow-shrink" ? "missing from the source" : length === 1 ? "step" : "steps";
    return [length, `${what} ${length === 1 ? "needs" : "need"} ${printable(need)}`];
  });
}
