// src/render/markdown: reports as Markdown. See docs/pull-requests.md#the-comment.

import { printable } from "../escape.ts";
import { cutEnd } from "../text-width.ts";

/** Maximum characters shown of one untrusted text. */
const MAX_CODE_LENGTH = 200;

/** An untrusted text in Markdown, as a code span, in which mentions, references, links and HTML have no effect. */
export function codeSpan(text: string): string {
  const shown = shortened(text);
  const ticks = "`".repeat(longestRun(shown) + 1);
  const space = /^[` ]|[` ]$/.test(shown) ? " " : "";
  return `${ticks}${space}${shown}${space}${ticks}`;
}

/** An untrusted text in an HTML block, where Markdown is not interpreted. */
export function codeElement(text: string): string {
  return `<code>${shortened(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)}</code>`;
}

/** Lines in a code fence that none of them can close. */
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
