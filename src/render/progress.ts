import type { Identity } from "../core/manifest.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { columnsOf, cutEnd, cutMiddle, padColumns } from "./text-width.ts";

/** The progress of an apply. */
export type ApplyProgress = {
  readonly steps: number;
  readonly done: number;
  readonly failed: number;
  readonly startedAt: number;
  /** The operations in progress, in start order: what is done, and since when. */
  readonly active: ReadonlyMap<Identity, { readonly doing: string; readonly since: number }>;
};

const BAR_COLUMNS = 24;
/** A shorter bar would show nothing. */
const MIN_BAR_COLUMNS = 4;
/** Columns for the current operation on a resource, on wide and on narrow lines. */
const DOING = { wide: 20, narrow: 8 };
/** Lines with fewer columns are narrow. */
const NARROW = 60;
/** Maximum number of names in the waiting text. */
const MAX_NAMES = 3;

const statusWords: { readonly [status: string]: string } = {
  INITIALIZED: "starting",
  BUILDING: "building the image",
  BUILD_SUCCESS: "image built",
  BUILD_FAILED: "the image was not built",
  DEPLOYING: "rolling out",
  ROLLOUT_STARTED: "rolling out",
  DEPLOY_SUCCESS: "rolled out",
  DEPLOY_FAILED: "rollout failed",
  PAUSED: "paused",
  CANCELLED: "cancelled",
  FAILED: "failed",
};

/** The progress of an apply in a few lines: a bar, counts, the elapsed time, and the operations in progress. */
export function progressLines(
  { steps, done, failed, startedAt, active }: ApplyProgress,
  now: number,
  { paint, width, rows }: { readonly paint: Paint; readonly width: number; readonly rows: number },
): readonly string[] {
  const [counts, passed] = [`${done} of ${steps}`, durationText(now - startedAt)];
  const bad = failed === 0 ? "" : `, ${failed} failed`;
  const room = width - columnsOf(`Applying  ${counts}${bad}, ${passed}`);
  const bar = barText(done / Math.max(1, steps), Math.min(BAR_COLUMNS, room), paint);
  const head = `Applying ${bar}${counts}${paint("red", bad)}, ${passed}`;
  const shown = [...active].slice(0, Math.max(1, active.size > rows ? rows - 1 : rows));
  const doingColumns = width < NARROW ? DOING.narrow : DOING.wide;
  const mostColumns = width - doingColumns - 16;
  const nameColumns = Math.min(mostColumns, Math.max(0, ...shown.map(([identity]) => columnsOf(printable(identity)))));
  const lines = shown.map(([identity, { doing, since }]) => {
    const name = padColumns(cutMiddle(printable(identity), nameColumns), nameColumns);
    return `  ${name}  ${cutEnd(doing, doingColumns).padEnd(doingColumns)} ${paint("dim", durationText(now - since))}`;
  });
  const rest = active.size - shown.length;
  return [head, ...lines, ...(rest > 0 ? [paint("dim", `  … and ${rest} more under way`)] : [])];
}

function barText(share: number, columns: number, paint: Paint): string {
  if (columns < MIN_BAR_COLUMNS) return "";
  const filled = Math.floor(columns * Math.min(1, share));
  return `${paint("green", "█".repeat(filled))}${paint("dim", "░".repeat(columns - filled))} `;
}

/** What an apply is waiting for, shown after a while without output. */
export function waitingText({ active, steps, done }: ApplyProgress, now: number): string {
  const shown = [...active]
    .slice(0, MAX_NAMES)
    .map(([identity, { doing, since }]) => `${printable(identity)} (${doing}, ${durationText(now - since)})`);
  const rest = active.size - shown.length;
  const more = rest === 0 ? "" : ` and ${rest} more`;
  return `waiting: ${shown.join(", ")}${more}; ${done} of ${steps} done`;
}

// `34 s`, `2 min 5 s`.
function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A control plane's status of a deployment, or of a job's run (`run CREATED`), as display text. */
export function rolloutText(status: string): string {
  const [, run = "", name = ""] = /^(run )?(.*)$/s.exec(status) ?? [];
  // Other control planes have other statuses.
  const known = run === "" && Object.hasOwn(statusWords, name) ? statusWords[name] : undefined;
  return known ?? printable(run + name.toLowerCase().replaceAll("_", " "));
}

/** How much of the files of a version is uploaded, as display text. */
export function uploadingText({ done, total }: { readonly done: number; readonly total: number }): string {
  return `uploading ${total === 0 ? 100 : Math.floor((100 * done) / total)} %`;
}
