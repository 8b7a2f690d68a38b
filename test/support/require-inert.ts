import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { expect } from "vitest";

/** Every foreign text holds it, so that it can be found wherever it came out. */
export const CANARY = "Zq7Zq7";

type Node = { readonly type: string; readonly value?: string; readonly children?: readonly Node[] };

const OURS = new Set([
  "root",
  "paragraph",
  "heading",
  "text",
  "strong",
  "inlineCode",
  "code",
  "list",
  "listItem",
  "table",
  "tableRow",
  "tableCell",
  "html",
]);

const COMMAND = /^\s*(?:::\w|\/\w)|##\w*\[|section_(?:start|end):/;

/** Fails unless every foreign text in a comment is code: no markup, mention, link or command. */
export function requireInert(markdown: string): void {
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const unchanged = new Set(unchangedLines(root));
  const commands = markdown
    .split(/\r\n|[\n\r\u2028]/)
    .filter((line) => COMMAND.test(unchanged.has(line) ? line.replace(/^ \//, "-/") : line));
  expect([...commands, ...foreignIn(root)]).toEqual([]);
}

/** Lines that a diff shows as unchanged, after a space: a forge takes `/close` only at the very beginning, and never in a fence. */
function unchangedLines({ type, value = "", children = [] }: Node): readonly string[] {
  const lines = type === "code" ? value.split("\n").filter((line) => line.startsWith(" ")) : [];
  return [...lines, ...children.flatMap(unchangedLines)];
}

/** What is not ours and means something: nodes of other types, texts outside of code, other HTML. */
function foreignIn(node: Node): readonly string[] {
  const { type, value = "", children = [] } = node;
  const below = children.flatMap(foreignIn);
  const isForeign =
    !OURS.has(type) || (type === "text" && /Zq7|@|evil/.test(value)) || (type === "html" && !isOurHtml(value));
  return isForeign ? [`${type} ${value}`, ...below] : below;
}

function isOurHtml(html: string): boolean {
  const rest = html.replaceAll(/<code>[^<>]*<\/code>/g, "").replaceAll(/<\/?(?:details|summary|p|b)>/g, "");
  return !/[<>]|Zq7/.test(rest);
}
