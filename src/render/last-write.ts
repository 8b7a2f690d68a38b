import type { LastWrite } from "../contract/generated/output.ts";
import { printable } from "./escape.ts";
import { columnsOf, cutMiddle } from "./text-width.ts";

/** The last writer and the time, or an age if the current time is given; only the writer's name is ever cut. */
export function writerText(
  { changedBy }: { readonly changedBy?: LastWrite | undefined },
  now: number | null,
): ((columns: number) => string) | null {
  if (changedBy === undefined) return null;
  const { subject, at } = changedBy;
  const when = at === null ? "" : printable(now === null ? at : ageText(at, now));
  if (subject === null) return () => (when === "" ? "" : `changed ${when}`);
  const end = when === "" ? "" : `, ${when}`;
  return (columns) => `by ${cutMiddle(printable(subject), columns - columnsOf(`by ${end}`))}${end}`;
}

/** The time since a moment in its largest unit: `4 min ago`. */
function ageText(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000));
  if (Number.isNaN(seconds)) return at;
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}
