import type { RegistryOnly } from "../contract/generated/output.ts";
import type { Access } from "../core/access.ts";
import { groupOf } from "../core/kind.ts";
import { splitIdentity } from "../core/manifest.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import { type Plan, type Step, writes } from "../core/plan/plan.ts";
import type { ApplyEvent, DriftEvent, PlanEvent } from "../core/report/events.ts";
import type { ApplyReport, Outcome } from "../core/report/report.ts";
import { kindsByType } from "../kinds/index.ts";
import { type ApplyView, applyText } from "./apply.ts";
import { gitlabReport } from "./ci/gitlab-report.ts";
import { driftText } from "./drift.ts";
import { driftProposalText } from "./drift-proposal.ts";
import { jsonText } from "./escape.ts";
import { driftMarkdown } from "./markdown/drift.ts";
import { planMarkdown } from "./markdown/plan.ts";
import type { ReviewSubject } from "./markdown/plan-blocks.ts";
import type { OutputFormat } from "./output-format.ts";
import type { Paint } from "./paint.ts";
import { planText, unmanagedText } from "./plan.ts";

/** Layout of the report of a pass. */
export type ReportView = {
  readonly output: OutputFormat;
  readonly paint: Paint;
  /** Maximum columns of a line. */
  readonly width: number;
  /** Rows of the terminal; null when the output is not a terminal. */
  readonly rows: number | null;
  /** The current time in epoch milliseconds, to show ages; null to show timestamps. */
  readonly now: number | null;
  /** Whether unchanged resources are also shown. */
  readonly showUnchanged?: boolean;
  /** Whether each step says why no dry run has checked it. */
  readonly showPreflight?: boolean;
  /** Whether equal changes of several resources are shown once. @default true */
  readonly folds?: boolean;
  /** The suggested next command after a plan; null for none. */
  readonly next?: string | null;
  /** The name of the target, when there are several. */
  readonly target?: string | null;
  /** The subject of the review: a pull request, or a change. */
  readonly subject?: ReviewSubject;
  /** A notice where to find the whole of a shortened report; Markdown. */
  readonly whole?: string;
  /** Whether an outcome was shown when it happened. @default none was */
  readonly wasShown?: (outcome: Outcome) => boolean;
};

/** The report of a plan. */
export function planReport(event: PlanEvent, view: ReportView): string {
  const { output, showUnchanged = false, showPreflight = false, folds = true, next = null } = view;
  const { ignored, details, notUsed, access, unmanaged, withServerSide } = event;
  const plan = withServerSide ?? event.plan;
  if (output === "json") {
    const counted = ignored === 0 ? {} : { ignored };
    const shown = listed(plan, showUnchanged);
    // With the server-side fields, the steps are not the ones that would be executed.
    const document = withServerSide === null ? signed(shown, event) : shown;
    const { history, notWritable, secretUses, fingerprints, interrupted, hardware } = event;
    const beside = {
      ...counted,
      history,
      ...unmanagedIn(unmanaged),
      ...otherDocumentsIn(event),
      ...registryOnlyIn(event),
    };
    return jsonText({
      ...document,
      ...beside,
      ...accessIn(access),
      notWritable,
      secretUses,
      fingerprints,
      interrupted,
      hardware,
      ...notUsedIn(notUsed),
    });
  }
  const group = (step: Step): string | null => groupOf(step, kindsByType);
  const detailOf = ({ identity }: Step): string | null => details.get(identity) ?? null;
  if (output === "gitlab") return gitlabReport(plan);
  if (output === "markdown") {
    return planMarkdown(
      { ...plan, ignored, ...notesOf(event), ...registryOnlyIn(event) },
      { ...reviewed(view), groupOf: resourceGroup, detailOf, showPreflight },
    );
  }
  const text = planText(plan, {
    ...view,
    groupOf: group,
    detailOf,
    blocked: event.blocked,
    showUnchanged,
    showPreflight,
    folds,
    ...(event.changedSince === undefined ? {} : { changedSince: event.changedSince }),
    ...(event.branch === undefined ? {} : { branch: event.branch }),
    next: hasWrites(plan) ? next : null,
    ignored,
    access,
    notUsed,
    ...notesOf(event),
    ...registryOnlyIn(event),
  });
  return unmanaged === null ? text : text + unmanagedText(unmanaged, view);
}

/** A plan as its file stores it: without kept steps. */
export function planFile(event: PlanEvent): string {
  return jsonText(signed(listed(event.plan, false), event));
}

function signed(plan: Plan, { signature }: PlanEvent): object {
  return signature === null ? plan : { ...plan, seal: signature };
}

/** The report of a drift pass; `base` is the commit whose manifests replace missing records. */
export function driftReport(event: DriftEvent, base: string | null, view: ReportView): string {
  const { report, notUsed, access, unrecorded, selected } = event;
  if (view.output === "json")
    return jsonText({
      ...report,
      ...(event.proposed === undefined ? {} : { proposal: event.proposed }),
      ...registryOnlyIn(event),
      ...accessIn(access),
      ...notUsedIn(notUsed),
    });
  if (view.output === "markdown")
    return driftMarkdown({ ...report, ...registryOnlyIn(event) }, { ...reviewed(view), groupOf: resourceGroup });
  const what = base === null ? "the manifests here" : `the manifests at ${base}`;
  const stand = `${unrecorded} of ${selected} have no record in this state: compared with ${what} instead`;
  const shown = { ...view, access, ...registryOnlyIn(event) };
  const proposed = event.proposed === undefined ? "" : driftProposalText(event.proposed, view);
  if (unrecorded === 0) return driftText(report, shown, null, notUsed) + proposed;
  const basis = unrecorded === selected ? "declared" : "recorded or declared";
  return driftText(report, { ...shown, basis }, stand, notUsed) + proposed;
}

/** The report of an apply. */
export function applyReport(event: ApplyEvent, view: ReportView): string {
  const { report, notUsed } = event;
  if (view.output === "json")
    return jsonText({ ...withOrphans(report, event.plan), history: event.history, ...notUsedIn(notUsed) });
  return applyText(report, applyViewOf(event, view), notUsed);
}

/** Layout of the outcomes of an apply. */
export function applyViewOf(
  { plan, places, history }: ApplyEvent,
  { paint, width, rows, wasShown = () => false }: ReportView,
): ApplyView {
  const steps = new Map(plan.steps.map((step) => [step.identity, step]));
  const orphans = plan.steps.filter(isOrphan);
  return {
    paint,
    width,
    rows,
    wasShown,
    orphans,
    counted: plan.summary.orphan - orphans.length,
    ...(history === undefined ? {} : { history }),
    // A write of an earlier run is not part of this plan.
    stepOf: ({ identity, interrupted }) => (interrupted === undefined ? steps.get(identity) : undefined),
    placeOf: ({ identity }) => places.get(identity) ?? null,
  };
}

/** The size limit of a comment on forges, minus space for the text around it. */
const MAX_CHARACTERS = 60_000;

function reviewed({ target = null, subject = "change", whole = "" }: ReportView) {
  return { target, subject, whole, most: MAX_CHARACTERS };
}

function resourceGroup(one: { readonly identity: string }): string | null {
  return groupOf(one, kindsByType);
}

function isOrphan({ action }: Step): boolean {
  return action === "orphan";
}

// Left out when there are none.
function withOrphans(report: ApplyReport, { steps, summary }: Plan): object {
  if (summary.orphan === 0) return report;
  const orphans = steps.filter(isOrphan).map(({ identity, kind, orphan }) => ({ identity, kind, orphan }));
  const listed = orphans.length === 0 ? {} : { orphans };
  return { ...report, summary: { ...report.summary, orphan: summary.orphan }, ...listed };
}

function hasWrites({ steps, complete }: Plan): boolean {
  return complete && steps.some(writes);
}

// Unchanged resources are counted; they are listed only on request, or when they have a note.
function listed(plan: Plan, showUnchanged: boolean): Plan {
  const isShown = ({ action, changes }: Step): boolean => action !== "keep" || showUnchanged || changes.length > 0;
  return { ...plan, steps: plan.steps.filter(isShown) };
}

function unmanagedIn(unmanaged: PlanEvent["unmanaged"]): object {
  if (unmanaged === null) return {};
  const { identities, unread } = unmanaged;
  return {
    unmanaged: identities.map((identity) => ({ identity, kind: splitIdentity(identity).kind })),
    ...(unread.length === 0 ? {} : { unmanagedNotListed: unread.map(({ kind }) => kind) }),
  };
}

// Left out when every document of the source is our manifest.
function otherDocumentsIn({ otherDocuments }: PlanEvent): object {
  if (otherDocuments === undefined) return {};
  const { documents, types } = otherDocuments;
  return { unmanagedDocuments: { documents, types: Object.fromEntries(types) } };
}

// Left out when the control plane does not report it.
function accessIn(access: Access | null): { readonly access?: Access } {
  return access === null ? {} : { access };
}

// The history is left out when it was not read, the others when the token may write every step and no write is open.
function notesOf({ history, notWritable, secretUses, fingerprints, interrupted, hardware }: PlanEvent) {
  return {
    ...(history && { history }),
    ...(notWritable && { notWritable }),
    ...(secretUses && { secretUses }),
    ...(fingerprints && { fingerprints }),
    ...(interrupted && { interrupted }),
    ...(hardware && { hardware }),
  };
}

// Left out when there is none.
function registryOnlyIn({ registryOnly = [] }: PlanEvent | DriftEvent): {
  readonly registryOnly?: readonly RegistryOnly[];
} {
  return registryOnly.length === 0 ? {} : { registryOnly };
}

// Left out when the control plane lacks no extension.
function notUsedIn(notUsed: readonly MissingExtension[]): { readonly notUsed?: readonly MissingExtension[] } {
  return notUsed.length === 0 ? {} : { notUsed };
}
