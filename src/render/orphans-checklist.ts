import type { OrphansReport } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { codeSpan, fenced } from "./markdown/code-markup.ts";
import { orphanOrigin, orphanParagraphs } from "./orphans.ts";
import type { Paint } from "./paint.ts";
import { linesText, sentenceText } from "./wrap.ts";

type View = { readonly paint: Paint; readonly width: number };

const INTRODUCTION = "Holdfast never deletes. Remove them on the platform, in this order";
const FORGET = "Then drop their records";

/** Orphans as a checklist for a terminal: what to remove on the platform, and the command that drops their records. */
export function orphansChecklist(report: OrphansReport, { paint, width }: View): string {
  const { orphans, forget } = report;
  const notes = orphanParagraphs(0, report.history).map((note) => sentenceText(printable(note), width));
  if (orphans.length === 0) return [sentenceText(nothingText(report), width), ...notes].join("");
  const lines = orphans.flatMap((one) => [
    `[ ] ${paint("bold", printable(one.identity))}\n`,
    linesText(printable(orphanOrigin(one)), { indent: "    ", width }),
  ]);
  return [
    sentenceText(`${titleText(report)}. ${INTRODUCTION}:`, width),
    ...["\n", ...lines, "\n"],
    ...(forget === null ? [] : [`${FORGET}:\n\n`, `  ${printable(forget)}\n`]),
    ...notes,
  ].join("");
}

/** The same as Markdown, for an issue. */
export function orphansMarkdown(report: OrphansReport): string {
  const { orphans, forget } = report;
  const notes = orphanParagraphs(0, report.history).map(printable);
  if (orphans.length === 0) return `${[nothingText(report), ...notes].join("\n\n")}\n`;
  const lines = orphans.map((one) => `- [ ] remove ${codeSpan(one.identity)}: ${codeSpan(orphanOrigin(one))}`);
  const last =
    forget === null
      ? []
      : [`- [ ] ${FORGET.toLowerCase()}:`, "", ...fenced("console", [printable(forget)]).map((line) => `  ${line}`)];
  return `${[`${titleText(report)}. ${INTRODUCTION}.`, "", ...lines, ...last, ...notes.flatMap((note) => ["", note])].join("\n")}\n`;
}

function titleText({ orphans, server, target }: OrphansReport): string {
  const place = target === null ? server : `${server} (target ${target})`;
  return printable(`${count(orphans.length, "resource")} on ${place} that git no longer declares`);
}

function nothingText({ server, complete }: OrphansReport): string {
  const seen = complete ? "" : ", as far as it could be read";
  return printable(`No orphans: git declares everything on ${server} that it ever declared${seen}`);
}
