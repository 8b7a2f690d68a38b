import { printable } from "../escape.ts";
import { cutEnd } from "../text-width.ts";

/** Characters of one foreign text that are shown. */
const MAX_CODE_LENGTH = 200;

/** A foreign text among Markdown: in a code span no mention, reference, link or HTML means anything. */
export function codeSpan(text: string): string {
  const shown = shortened(text);
  const ticks = "`".repeat(longestRun(shown) + 1);
  const space = /^[` ]|[` ]$/.test(shown) ? " " : "";
  return `${ticks}${space}${shown}${space}${ticks}`;
}

/** A foreign text in a block of HTML, where Markdown has no say. */
export function codeElement(text: string): string {
  return `<code>${shortened(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)}</code>`;
}

/** Lines in a fence that none of them can close. */
export function fenced(language: string, lines: readonly string[]): readonly string[] {
  const ticks = "`".repeat(Math.max(3, longestRun(lines.join("\n")) + 1));
  return [`${ticks}${language}`, ...lines, ticks];
}

function shortened(text: string): string {
  return cutEnd(printable(text), MAX_CODE_LENGTH) || "(empty)";
}

function longestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}
