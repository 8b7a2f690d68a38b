import type { Json, JsonObject } from "../../contract/json.ts";
import { differences, type FieldDifference } from "../../model/differences.ts";
import { subjectName } from "../../model/roles.ts";
import { dryRunContent } from "../diff/compare-fields.ts";
import { contentOf } from "../diff/compared-content.ts";
import { expectedLive } from "../diff/expected-live.ts";
import { isIgnored } from "../ignore/ignore-rules.ts";
import type { LiveRow } from "../kind.ts";
import type { OwnCheck } from "./decision.ts";

/** What shows that an unrecorded resource is this repository's own. */
export type OwnContent = {
  /** What was live before somebody changed it, or still is; null where only its author is known. */
  readonly manifest: JsonObject | null;
};

/** Whether live content is what an earlier manifest of the resource would make of it. */
export function isContentOf(check: OwnCheck, earlier: JsonObject, live: JsonObject): boolean {
  return differencesFrom(check, earlier, live).length === 0;
}

/** The fields in which live differs from what an earlier manifest would make of it. */
export function differencesFrom(check: OwnCheck, earlier: JsonObject, live: JsonObject): readonly FieldDifference[] {
  const found = differences(check.kind.shape, expectedOf(check, earlier), contentOf(check.kind, live));
  return found.filter(({ tokens }) => !isIgnored(check.ignored, tokens));
}

// The dry run of the current manifest shows what the server adds.
function expectedOf(check: OwnCheck, earlier: JsonObject): Json | undefined {
  const returned = dryRunContent(check);
  const receipt = returned === undefined ? null : { written: contentOf(check.kind, check.manifest.value), returned };
  return expectedLive(check.kind.shape, contentOf(check.kind, earlier), receipt);
}

/** Whether one of these subjects, named by id or by `subjectName`, created a version or a resource. */
export function isWrittenBy({ createdBy, author }: LiveRow, writers: ReadonlySet<string>): boolean {
  return [createdBy, author].some((subject) => subject !== undefined && writers.has(subjectName(subject)));
}
