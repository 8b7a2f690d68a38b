import type { Danger } from "../../contract/generated/output.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import { labelOf } from "../../model/differences.ts";
import { contentOf } from "../diff/compared-content.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { pointerIn, redactPointer, writtenValueAt } from "../diff/pointer.ts";
import { MAY_EXIST, UNREAD } from "../guards/step-guards.ts";
import type { PlanInput } from "../plan/plan-input.ts";
import { chooseWriteOperation } from "./choose-write-operation.ts";
import { contentDangers } from "./content-dangers.ts";
import type { Decision, DecisionInput, Difference } from "./decision.ts";
import { isWrittenBy } from "./own-content.ts";

const LISTED = 10;

/** What is dangerous about a decision on a manifest. */
export function dangersOf(one: DecisionInput, decision: Decision, input: PlanInput): readonly Danger[] {
  const { action, reason, differences, before, after } = decision;
  if (action === "keep") return NONE;
  if (action === "block")
    return reason === "immutable" ? [{ risk: "version-immutable", path: "/version", text: "" }] : NONE;
  const isNew = before === undefined;
  const written = one.manifest.value;
  const asMerged = contentDangers({ before, after: after ?? written, written });
  const content = [...asMerged, ...underBasePatches(one, decision, input).filter(isNotIn(asMerged))];
  const moved = differences.filter(({ cause }) => cause === "drift" || cause === "conflict");
  return [
    ...(action === "create" ? NONE : adoptionDangers(one, decision, input)),
    ...(action === "update" && moved.length > 0 ? [fieldsDanger("reverts", moved, one)] : []),
    ...content.filter(({ risk }) => !(isNew && risk === "privilege-growth" && input.server === "embedded")),
  ];
}

const NONE: readonly never[] = [];

// What a patch of the base keeps a manifest from stays dangerous while a patch of the branch is what hides it.
function underBasePatches(
  { kind, manifest: { identity } }: DecisionInput,
  { before }: Decision,
  { underBasePatches: others }: PlanInput,
): readonly Danger[] {
  const written = others?.get(identity);
  if (written === undefined) return NONE;
  const found = contentDangers({ before, after: contentOf(kind, written), written });
  return found.map(({ risk, text }) => ({ risk, path: null, text: `${text}${UNDER_BASE}` }));
}

const UNDER_BASE = " with the patches of the base";

function isNotIn(known: readonly Danger[]): (danger: Danger) => boolean {
  const told = new Set(known.map(({ risk, text }) => `${risk} ${text}${UNDER_BASE}`));
  return ({ risk, text }) => !told.has(`${risk} ${text}`);
}

// A resource without a record is ours only if its content shows it, or if its newest version, or the resource itself, was
// created for us. What is ensured may exist, and its author is not known.
function adoptionDangers(
  one: DecisionInput,
  { action, differences }: Decision,
  { writers }: PlanInput,
): readonly Danger[] {
  const { recorded, live, dryRun, isOwn } = one;
  if (recorded !== null || isOwn) return NONE;
  // What exists refuses to be created, and stays.
  if (chooseWriteOperation(one.kind, live, one.capabilities, one.manifest.value)?.createsOnly === true) return NONE;
  // When live cannot be read, the dry run shows that it exists and who created it.
  const answered = dryRun?.state === "answered" && dryRun.row?.id ? dryRun.row : null;
  const row = live.state === "present" ? live.row : answered;
  if (row === null) return action === "ensure" ? [unreadDanger(MAY_EXIST, one)] : NONE;
  if (isWrittenBy(row, writers)) return NONE;
  if (live.state !== "present") return [unreadDanger(UNREAD, one)];
  return [fieldsDanger("adopts", lostIn(differences), one)];
}

function unreadDanger(text: string, { kind: { cannotRead } }: DecisionInput): Danger {
  return { risk: "adopts", path: null, text: cannotRead === undefined ? text : `${text}, since ${cannotRead}` };
}

function lostIn(differences: readonly Difference[]): readonly Difference[] {
  return differences.filter(({ cause, before }) => isActedOn(cause) && before !== undefined);
}

// Names the fields of live whose values are lost; its place is that of the first one that the manifest has.
function fieldsDanger(
  risk: "adopts" | "reverts",
  fields: readonly Difference[],
  { kind: { shape }, live, manifest }: DecisionInput,
): Danger {
  const found = live.state === "present" ? live.row.manifest : undefined;
  const paths = fields.map(({ tokens }) => pointerIn(shape, [found, manifest.value], tokens));
  const more = fields.length > LISTED ? ` and ${fields.length - LISTED} more` : "";
  const isWritten = (path: string): boolean => writtenValueAt(manifest.value, pointerTokens(path)) !== undefined;
  const path = paths.find(isWritten) ?? paths[0];
  const listed = fields.slice(0, LISTED).map(({ tokens }) => labelOf(shape, tokens));
  return { risk, path: path === undefined ? null : redactPointer(path), text: listed.join(", ") + more };
}
