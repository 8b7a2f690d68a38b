import type { HistoryReach } from "../../contract/generated/output.ts";
import { orphanCountText, reachText } from "../orphans.ts";

/** What a report does not list of orphans: those outside of a selection, and those that the history could not show. */
export function orphanParagraphs(counted: number, history: HistoryReach | undefined): readonly string[] {
  return [orphanCountText(counted), reachText(history)].flatMap((text) => (text === null ? [] : [`${text}.`]));
}
