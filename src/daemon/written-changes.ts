import type { WrittenChanges } from "../contract/generated/output.ts";
import { isObject, type Json } from "../contract/json.ts";
import { pointerOf } from "../core/diff/pointer.ts";
import type { Identity } from "../core/manifest.ts";
import type { Change } from "../core/plan/plan.ts";
import type { ApplyEvent } from "../core/report/events.ts";

/** At most so many fields are kept of a resource, and so many characters of each value. */
const MAX_FIELDS = 50;
const MAX_CHARACTERS = 1000;

/** At most so many characters are kept of a resource, and of a pass: of resources beyond that, the fields are counted. */
const MAX_OF_RESOURCE = 20_000;
const MAX_OF_PASS = 4_000_000;

/** What the writes of an apply changed, as far as it is kept. The values are those of the plan, which masks them. */
export function writtenChanges({
  report: { outcomes },
  plan,
}: Pick<ApplyEvent, "report" | "plan">): ReadonlyMap<Identity, WrittenChanges> {
  const found = new Map<Identity, WrittenChanges>();
  const written = new Set(outcomes.filter(isWrite).map(({ identity }) => identity));
  // Most passes write nothing, at no cost.
  if (written.size === 0) return found;
  let room = MAX_OF_PASS;
  for (const { identity, changes } of plan.steps) {
    if (changes.length === 0 || !written.has(identity)) continue;
    const kept = keptOf(changes, Math.min(room, MAX_OF_RESOURCE));
    room -= kept.characters;
    found.set(identity, kept.changed);
  }
  return found;
}

// A write whose outcome is unknown may have changed all of it.
function isWrite({ result }: ApplyEvent["report"]["outcomes"][number]): boolean {
  return result === "created" || result === "updated" || result === "unknown";
}

function keptOf(
  changes: readonly Change[],
  most: number,
): { readonly changed: WrittenChanges; readonly characters: number } {
  const all = changes.flatMap(fieldsOf);
  const fields: Change[] = [];
  let cut = 0;
  let characters = 0;
  for (const change of all.slice(0, MAX_FIELDS)) {
    const { field, cut: cutHere } = shortened(change);
    const length = JSON.stringify(field).length;
    // After one that does not fit none is taken, so that what is kept is a beginning.
    if (characters + length > most) break;
    characters += length;
    cut += cutHere;
    fields.push(field);
  }
  return { changed: { fields, leftOut: all.length - fields.length, cut }, characters };
}

/** The fields of a resource that is created, which its plan has as one change. */
function fieldsOf(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (path !== "" || before !== null || !isObject(after)) return [change];
  return Object.entries(after).map(([name, value = null]) => ({
    ...change,
    path: pointerOf([name]),
    label: name,
    after: value,
    diff: null,
  }));
}

function shortened({ path, label, before, after, cause, diff }: Change): {
  readonly field: Change;
  readonly cut: number;
} {
  const [was, is, lines] = [before, after, diff].map(beginningOf);
  const cut = [was, is, lines].filter((one) => one?.isCut === true).length;
  const text = typeof lines?.value === "string" ? lines.value : null;
  return { field: { path, label, before: was?.value ?? null, after: is?.value ?? null, cause, diff: text }, cut };
}

function beginningOf(value: Json): { readonly value: Json; readonly isCut: boolean } {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return { value, isCut: false };
  // A pair of surrogates may have been cut in two.
  return { value: `${text.slice(0, MAX_CHARACTERS - 1).toWellFormed()}…`, isCut: true };
}
