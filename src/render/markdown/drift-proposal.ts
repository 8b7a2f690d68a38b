import type { DriftProposalReport } from "../../contract/generated/output.ts";
import { count } from "../count-text.ts";
import { printable } from "../escape.ts";
import { cellCode, changeText } from "./change-cell.ts";
import { codeSpan } from "./code-markup.ts";
import { fittingRows } from "./fit-markdown.ts";
import { refusedList } from "./refused-list.ts";

/** The drift of a target as the text of a pull request has it. */
export type DriftProposalText = Pick<DriftProposalReport, "proposed" | "refused"> & {
  readonly target: string;
  readonly server: string;
  /** The longest time for which a daemon writes none of it, such as `7d`; null where no daemon has proposed it. */
  readonly heldFor: string | null;
};

const MOST_ROWS = 200;
/** Beside the marker, a forge takes about 65,000 characters. */
const MOST_FIELDS = 40_000;
const MOST_REFUSED = 12_000;
const ALL = "`holdfast drift --propose --dry-run -o json` has all of them.";

/** The title of the pull request of drift. */
export function driftProposalTitle({ target, proposed }: Pick<DriftProposalText, "target" | "proposed">): string {
  const [only] = proposed;
  const what = proposed.length === 1 && only !== undefined ? only.identity : count(proposed.length, "resource");
  return printable(`Take over what was changed in live on ${target}: ${what}`).slice(0, 200);
}

/** The text of the pull request of drift: what was changed, by whom and when, and what its end means. */
export function driftProposalMarkdown(text: DriftProposalText): string {
  const { target, server } = text;
  const parts = [
    `What was changed in live on target ${codeSpan(target)}, control plane ${codeSpan(server)}, and not in git.`,
    changesTable(text),
    notProposed(text.refused, `**Not proposed: ${text.refused.length}.** Git wins there, whatever becomes of this.`),
    ...endsOf(text),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** Why the pull request of drift is closed, of which nothing is proposed any more. */
export function nothingProposedMarkdown({ target, refused }: Pick<DriftProposalText, "target" | "refused">): string {
  if (refused.length === 0) return `Git and live agree again on target ${codeSpan(target)}, so this was closed.`;
  const title = `What still differs on target ${codeSpan(target)} is not proposed, so this was closed. Git wins there.`;
  return notProposed(refused, title);
}

function notProposed(refused: DriftProposalText["refused"], title: string): string {
  return refusedList(refused, title, { rows: MOST_ROWS, characters: MOST_REFUSED, whole: ALL });
}

function changesTable({ proposed }: DriftProposalText): string {
  const fields = proposed.flatMap((one) => one.changes.map((change) => ({ one, change })));
  const rows = fields.slice(0, MOST_ROWS).map(({ one, change }) => {
    const { subject = null, at = null } = one.changedBy ?? {};
    const cells = [cellCode(one.identity), cellCode(change.label), changeText(change), known(subject), known(at)];
    return `| ${cells.join(" | ")} |`;
  });
  const shown = fittingRows(rows, MOST_FIELDS);
  const left = fields.length - shown.length;
  return [
    "| Resource | Field | Git → live | Last written by | At |",
    "| --- | --- | --- | --- | --- |",
    ...shown,
    ...(left === 0 ? [] : [`\nAnd ${count(left, "more field")}. ${ALL}`]),
  ].join("\n");
}

function known(text: string | null): string {
  return text === null ? "unknown" : cellCode(text);
}

function endsOf({ heldFor }: DriftProposalText): readonly string[] {
  return [
    "**If this is merged,** git says what is live, and nothing has to be written.",
    heldFor === null
      ? "**If this is closed,** git wins: the next apply writes what git says, and the same change is not proposed again. So does an apply while this is open."
      : "**If this is closed,** git wins: the next pass writes what git says, and the same change is not proposed again.",
    ...(heldFor === null
      ? []
      : [
          `While this is open, Holdfast does not write these resources for this difference alone, for at most ${codeSpan(heldFor)}; then git wins too. A commit that changes one of them is applied as ever.`,
        ]),
  ];
}
