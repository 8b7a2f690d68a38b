import type { HistoryReach, Orphan } from "../contract/generated/output.ts";
import type { Identity } from "../core/manifest.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { cutMiddle } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

/** An orphan, and what is known of it. */
export type ShownOrphan = { readonly identity: Identity; readonly orphan?: Orphan };

const REMOVE_BY_HAND = "Holdfast never deletes: remove it on the platform";

/** What is known of an orphan: who removed its manifest, whether it is recorded, whether live shows it. */
export function orphanOrigin({ orphan }: ShownOrphan): string {
  if (orphan === undefined) return "";
  const { recorded, isLive, notVisible, removedBy } = orphan;
  return [
    ...(removedBy === undefined ? [] : [removalText(removedBy)]),
    ...(recorded ? ["recorded, no longer declared"] : []),
    ...(isLive ? [] : [notVisible ? "not visible to this token" : "live cannot be read, so it may be gone"]),
  ].join("; ");
}

function removalText({ commit, author, at }: NonNullable<Orphan["removedBy"]>): string {
  if (commit === null) return "removed by this change";
  return [`removed by ${commit.slice(0, 12)}`, author, at].filter((part) => part !== null).join(", ");
}

type OrphansView = { readonly paint: Paint; readonly width: number };

/** What is to be done about orphans, of which some may be gone. */
export function orphansText(orphans: readonly ShownOrphan[]): string {
  // What is not seen is not called running.
  return `${orphans.every(isRunning) ? "still running" : "that may still run"}; ${REMOVE_BY_HAND}${forgetText(orphans)}`;
}

// Without a record there is nothing to forget: such an orphan is listed no longer once it is gone.
function forgetText(orphans: readonly ShownOrphan[]): string {
  const recorded = orphans.filter(({ orphan }) => orphan?.recorded !== false).length;
  if (recorded === 0) return "";
  return recorded === orphans.length ? ", then `holdfast forget`" : ", then `holdfast forget` what is recorded";
}

function isRunning({ orphan }: ShownOrphan): boolean {
  return orphan?.isLive !== false;
}

/** The orphans, each on a line with what is known of it, and what is to be done. */
export function orphanLines(orphans: readonly ShownOrphan[], view: OrphansView): readonly string[] {
  const { running = [], unseen = [] } = Object.groupBy(orphans, (one) => (isRunning(one) ? "running" : "unseen"));
  return [...groupLines("Orphans: ", running, view), ...groupLines("Orphans ", unseen, view)];
}

function groupLines(head: string, orphans: readonly ShownOrphan[], { paint, width }: OrphansView): readonly string[] {
  if (orphans.length === 0) return [];
  const title = head + orphansText(orphans);
  const lines = orphans.flatMap((one) => {
    const origin = wrapWords(printable(orphanOrigin(one)), { indent: "    ", width });
    const name = `${paint("magenta", "○")} ${cutMiddle(printable(one.identity), width - 2)}`;
    return [name, ...(orphanOrigin(one) === "" ? [] : origin.map((line) => paint("dim", line)))];
  });
  return [...wrapWords(title, { indent: "", width }).map((line) => paint("bold", line)), ...lines];
}

/** With a selection, how many orphans there are; null without any. */
function orphanCountText(orphans: number): string | null {
  if (orphans === 0) return null;
  return `${count(orphans, "orphan")} not listed with a selection; ${REMOVE_BY_HAND}; \`holdfast plan\` without one lists them`;
}

/** How far the history was read for orphans; null where it was read to its start. */
function reachText(reach: HistoryReach | undefined): string | null {
  if (reach === undefined || reach.ended === "start") return null;
  const read = `orphans are known from ${count(reach.commits, "commit")} only`;
  if (reach.ended === "limit") return `${read}: --history N reads more`;
  if (reach.ended === "cut") return `${read}: reading the history took too long, or too much memory`;
  return `${read}, since this is a shallow clone: fetch the whole history (git fetch --unshallow; in CI, fetch-depth: 0), or plan in a full clone`;
}

/** The lines below a report that say what it does not list. */
export function orphanNotes(
  { counted, history }: { readonly counted: number; readonly history: HistoryReach | undefined },
  { paint, width }: OrphansView,
): readonly string[] {
  const notes = [orphanCountText(counted), reachText(history)].filter((note) => note !== null);
  return notes.flatMap((note) => wrapWords(printable(note), { indent: "", width })).map((line) => paint("dim", line));
}

/** What a report does not list of orphans: those outside of a selection, and those that the history could not show. */
export function orphanParagraphs(counted: number, history: HistoryReach | undefined): readonly string[] {
  return [orphanCountText(counted), reachText(history)].flatMap((text) => (text === null ? [] : [`${text}.`]));
}
