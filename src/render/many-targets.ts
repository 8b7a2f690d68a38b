import { printable } from "./escape.ts";
import { wrappedLines } from "./wrap.ts";

/** From this number of targets on, one without anything to look at is one line. */
export const MANY_TARGETS = 10;

/** What a command has printed for one of many targets. */
export type TargetResult = { readonly target: string; readonly hasFailed: boolean; readonly text: string };

/**
 * The results of many targets: first those that failed, then those with more than a line, then one line for each of the
 * others, and how many there are.
 */
export function manyTargetsText(results: readonly TargetResult[], width: number): string {
  const sorted = results.toSorted((a, b) => rankOf(a) - rankOf(b));
  const longest = Math.max(...results.map(({ target }) => target.length));
  const texts = sorted.map(({ target, text }) =>
    isLine(text) ? `${printable(target).padEnd(longest)}  ${text.trim()}\n` : `Target ${printable(target)}\n${text}\n`,
  );
  const failed = results.filter(({ hasFailed }) => hasFailed).length;
  return wrappedLines(`${texts.join("")}${results.length} targets, ${failed === 0 ? "none" : failed} failed\n`, width);
}

function rankOf({ hasFailed, text }: TargetResult): number {
  if (hasFailed) return 0;
  return isLine(text) ? 2 : 1;
}

function isLine(text: string): boolean {
  return !text.trim().includes("\n");
}
