import type {
  HardwareChange,
  HistoryReach,
  InterruptedWrite,
  NotWritable,
  RegistryOnly,
  SecretFingerprint,
  SecretUse,
  UnreadKind,
} from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";
import type { Access } from "../core/access.ts";
import { NOT_ADOPTED } from "../core/guards/adoption.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import type { Plan, Step } from "../core/plan/plan.ts";
import type { Unmanaged } from "../core/report/events.ts";
import { type BlockedView, blockedText } from "./blocked-steps.ts";
import { changeLines } from "./change.ts";
import { count, joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import { orphanLines, orphanNotes } from "./orphans.ts";
import type { Paint } from "./paint.ts";
import {
  approvalTexts,
  fingerprintTexts,
  hardwareTexts,
  interruptedLines,
  notCheckedCounts,
  notWritableText,
  secretUseTexts,
} from "./plan-notes.ts";
import { registryOnlyLines } from "./registry-only.ts";
import { callerAccessLines, incompleteText, missingExtensionsText } from "./report-notes.ts";
import { type Fold, foldSteps, guardCounts, policyLines, stepLines, titleLine } from "./step.ts";
import { cutEnd, cutMiddle } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

/** Layout of a plan as text. */
export type PlanView = BlockedView & {
  /** Rows of the terminal; null when the output is not a terminal. */
  readonly rows: number | null;
  /** The group (workspace, repo) of a step's identity; null for the whole tenant. */
  readonly groupOf: (step: Step) => string | null;
  readonly showUnchanged: boolean;
  /** Number of differing fields that ignore rules cover. */
  readonly ignored: number;
  /** The commit that the source differs from, and the number of changed files; left out when it does not differ. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The branch of the work tree; left out when it has none. */
  readonly branch?: string;
  /** The name of the target, when there are several. */
  readonly target?: string | null;
  /** The suggested next command; null for none. */
  readonly next: string | null;
  /** The token's subject and permissions; null when the control plane does not report them. */
  readonly access?: Access | null;
  /** How far back the history was read for orphans; left out when the ledger knows them. */
  readonly history?: HistoryReach | undefined;
  /** The versions that the registry holds and no manifest declares. @default none */
  readonly registryOnly?: readonly RegistryOnly[];
  /** The steps that this token may not write, by the role that it lacks. @default none */
  readonly notWritable?: readonly NotWritable[];
  /** How the writes change what is reserved; left out where they do not. */
  readonly hardware?: HardwareChange;
  /** The active deployments that use a secret whose value a step changes. @default none */
  readonly secretUses?: readonly SecretUse[];
  /** What shows which of the values that the plan writes are equal. @default none */
  readonly fingerprints?: readonly SecretFingerprint[];
  /** The open writes of an earlier run, and what apply does about each. @default none */
  readonly interrupted?: readonly InterruptedWrite[];
  /** The extensions that the control plane lacks. */
  readonly notUsed?: readonly MissingExtension[];
};

const SIDES = "live → git";
const ROWS = 40;
const MAX_NAME_LINES = 6;

/** A plan as text: dangerous steps first, then the rest by workspace, and a summary; one line when nothing changes. */
export function planText(plan: Plan, view: PlanView): string {
  const summary = planLine(plan, view.ignored);
  const shown = plan.steps.filter((step) => isShown(step, view));
  const listed = plan.steps.filter(({ action }) => action === "orphan").length;
  const notes = [
    ...notAdoptedLines(plan, view),
    ...policyLines(plan.policies ?? [], { ...view, indent: "" }),
    ...interruptedLines(view.interrupted ?? [], view),
    ...orphanNotes({ counted: plan.summary.orphan - listed, history: view.history }, view),
    ...registryOnlyLines(view.registryOnly ?? [], view),
  ];
  if (shown.length === 0) return [...wrapWords(summary, { indent: "", width: view.width }), ...notes, ""].join("\n");
  const body = bodyLines(shown, view);
  const end = wrapWords(summary, { indent: "", width: view.width }).map((line) => view.paint("bold", line));
  const isLong = body.join("\n").split("\n").length > (view.rows ?? ROWS);
  return [
    ...wrapWords(`Plan for ${planPlace(plan, view)}: ${SIDES}`, { indent: "", width: view.width }),
    ...callerAccessLines(view.access ?? null, view),
    ...(isLong ? end : []),
    "",
    ...body,
    ...missingExtensionsText(view.notUsed ?? [], view),
    ...remarkLines(fingerprintTexts(view.fingerprints ?? [], printable), view),
    ...remarkLines(secretUseTexts(view.secretUses ?? [], printable), view),
    ...notCheckedLines(plan, view),
    ...notes,
    ...remarkLines(hardwareTexts(view.hardware, printable), view),
    ...remarkLines(approvalTexts(plan.approvals, printable), view),
    ...end,
    ...notWritableLines(view),
    ...(view.next === null ? [] : [view.paint("dim", `Next: ${view.next}`)]),
    "",
  ].join("\n");
}

/** The control plane, the target, and the commit with what differs from it. */
export function planPlace(
  { server, revision }: Plan,
  { changedSince, branch, target = null }: Pick<PlanView, "changedSince" | "branch" | "target">,
): string {
  const id = revision ?? changedSince?.commit ?? null;
  const changed =
    revision !== null || changedSince === undefined ? "" : `, ${count(changedSince.files, "file")} changed since`;
  const of = branch === undefined ? "" : ` of ${printable(branch)}`;
  const commit = id === null ? "" : `, commit ${printable(id.slice(0, 12))}${of}${changed}`;
  return `${serverText(server, target)}${commit}`;
}

/** The control plane, preceded by the name of the target when there are several. */
export function serverText(server: string, target: string | null): string {
  return printable(target === null ? server : `${target} (${server})`);
}

function bodyLines(shown: readonly Step[], view: PlanView): readonly string[] {
  const { dangerous = [], blocked = [], orphans = [], others: plainly = [] } = Object.groupBy(shown, sectionOf);
  const { folds, others } = view.folds ? foldSteps(plainly) : { folds: [], others: plainly };
  return [
    ...groupTexts(dangerous, view),
    ...blockedText(blocked, view),
    ...folds.map((fold) => foldText(fold, view)),
    ...groupTexts(others, view),
    ...orphanText(orphans, view),
  ];
}

function sectionOf({ action, risks, policies = [] }: Step): "dangerous" | "blocked" | "orphans" | "others" {
  if (action === "orphan") return "orphans";
  if (risks.length + policies.length > 0) return "dangerous";
  return action === "block" ? "blocked" : "others";
}

function groupTexts(steps: readonly Step[], view: PlanView): readonly string[] {
  const groups = [...Map.groupBy(steps, view.groupOf)].toSorted(byWave);
  return groups.map(([group, own]) => groupText(group, own, view));
}

function notCheckedLines({ steps }: Plan, { paint, width, showPreflight = false }: PlanView): readonly string[] {
  const counts = notCheckedCounts(steps);
  if (counts === "") return [];
  const hint = showPreflight ? "" : " (--show preflight names each)";
  return wrapWords(counts + hint, { indent: "", nextIndent: "  ", width }).map((line) => paint("dim", line));
}

function notAdoptedLines({ diagnostics }: Plan, { paint, width }: PlanView): readonly string[] {
  const found = diagnostics.find(({ code }) => code === NOT_ADOPTED);
  if (found === undefined) return [];
  return wrapWords(`${found.summary}; ${found.detail}`, { indent: "", nextIndent: "  ", width }).map((line) =>
    paint("yellow", line),
  );
}

function remarkLines(texts: readonly string[], { width }: Pick<PlanView, "width">): readonly string[] {
  return texts.flatMap((text) => wrapWords(text, { indent: "", nextIndent: "  ", width }));
}

// Whoever plans need not be who applies, so this is a remark.
function notWritableLines({ notWritable = [], paint, width }: PlanView): readonly string[] {
  const text = notWritableText(notWritable, printable);
  if (text === null) return [];
  return wrapWords(text, { indent: "", nextIndent: "  ", width }).map((line) => paint("dim", line));
}

/** `Plan: 2 to create, 1 to update, 40 unchanged; 1 drifted, 2 fields ignored`. */
export function planLine(plan: Plan, ignored: number): string {
  const { create, update, keep, ensure, block, orphan, drift, unrecorded, invalid } = plan.summary;
  const acting = joinCounts([
    [create, "to create"],
    [update, "to update"],
    [ensure, "to ensure"],
    [block, "blocked"],
  ]);
  const rest = joinCounts([
    [invalid, "invalid"],
    ...guardCounts(plan),
    [drift, "drifted"],
    [unrecorded, "unrecorded"],
    [orphan, orphan === 1 ? "orphan" : "orphans"],
    [ignored, ignored === 1 ? "field ignored" : "fields ignored"],
  ]);
  const nothing = plan.complete ? "nothing to do" : "nothing to do that is known";
  const head = `${acting === "" ? nothing : acting}, ${keep} unchanged`;
  const tail = rest === "" ? "" : `; ${rest}`;
  return `Plan: ${head}${tail}${incompleteText(plan)}`;
}

function isShown({ action, reason, changes }: Step, { showUnchanged }: PlanView): boolean {
  if (action !== "keep" || showUnchanged || changes.length > 0) return true;
  return reason !== null && reason !== "by-ledger";
}

type Group = readonly [string | null, readonly Step[]];

// Groups that others refer to come first.
function byWave([nameA, a]: Group, [nameB, b]: Group): number {
  return firstWave(a) - firstWave(b) || compareText(nameA ?? "", nameB ?? "");
}

function firstWave(steps: readonly Step[]): number {
  return Math.min(...steps.map(({ wave }) => wave));
}

function groupText(group: string | null, steps: readonly Step[], view: PlanView): string {
  const name = group === null ? "(tenant)" : group;
  const title = cutEnd(printable(name), view.width);
  return [view.paint("bold", title), ...steps.flatMap((step) => stepLines(step, group, view)), ""].join("\n");
}

function foldText({ steps, changes }: Fold, view: PlanView): string {
  const { paint, width } = view;
  const kinds = new Set(steps.map(({ kind }) => kind));
  const [kind = ""] = kinds.size === 1 ? kinds : [];
  const what = kind === "" ? `${steps.length} resources` : `${steps.length} × ${kind}`;
  const names = steps.map(({ identity }) => printable(kind === "" ? identity : identity.slice(kind.length + 1)));
  const lines = wrapWords(names.join(", "), { indent: "    ", width });
  const shown = lines.slice(0, MAX_NAME_LINES);
  const rest = lines.length - shown.length;
  const more = rest === 0 ? [] : ["    … --no-fold shows each of them"];
  return [
    titleLine(`${paint("yellow", "~")} `, `${what}: the same change in each`, "", view),
    ...changeLines(changes, { paint, width, by: null, file: null }),
    ...[...shown, ...more].map((line) => paint("dim", line)),
    "",
  ].join("\n");
}

function orphanText(orphans: readonly Step[], view: PlanView): readonly string[] {
  return orphans.length === 0 ? [] : [[...orphanLines(orphans, view), ""].join("\n")];
}

/** The resources that are live but neither declared nor recorded, one line each, and the kinds of which there may be more. */
export function unmanagedText(
  { identities, unread }: Unmanaged,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): string {
  const note = unreadLines(unread, width).map((line) => paint("dim", line));
  if (identities.length === 0) return `${["Unmanaged: nothing", ...note].join("\n")}\n`;
  const title = wrapWords("Unmanaged: live, neither declared nor recorded", { indent: "", width });
  const lines = identities.toSorted(compareText).map((identity) => `  ${cutMiddle(printable(identity), width - 2)}`);
  return `${[...title.map((line) => paint("bold", line)), ...lines, ...note].join("\n")}\n`;
}

/** One paragraph for each reason why kinds could not be read whole. */
export function unreadLines(unread: readonly UnreadKind[], width: number): readonly string[] {
  return [...Map.groupBy(unread, ({ why }) => why)].flatMap(([why, sharing]) => {
    const text = `not read whole: ${sharing.map(({ kind }) => kind).join(", ")}: ${printable(why)}`;
    return wrapWords(text, { indent: "  ", nextIndent: "    ", width });
  });
}
