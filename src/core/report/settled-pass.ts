import type { OperationName } from "../../contract/operations.ts";
import { hasErrors } from "../diagnostic.ts";
import type { ApplyEvent, PassEvent, ReadEvent } from "./events.ts";

/** A read of the control plane, with its answer. */
export type AnsweredRequest = {
  readonly operation: OperationName;
  readonly path: { readonly [name: string]: string };
  readonly query: { readonly [name: string]: string | number | boolean | readonly (string | number)[] | undefined };
  readonly status: number;
  /** A digest of what was answered; null where it was refused. */
  readonly digest: string | null;
};

/**
 * A whole pass that found nothing to do, and everything that it was made from. A pass that is made from the same finds the
 * same, so it need not be made.
 */
export type SettledPass = {
  /** When it began, in epoch milliseconds. */
  readonly at: number;
  /** The number of the lock since which nobody else has written what is recorded. */
  readonly lock: number;
  readonly commit: string;
  /** A digest of the configuration and of the program. */
  readonly settings: string;
  readonly requests: readonly AnsweredRequest[];
  /** What it reported. */
  readonly end: SettledEnd;
};

/** The events of a settled pass as JSON, without its resources. */
export type SettledEnd = {
  readonly read: Omit<ReadEvent, "leftOut" | "otherDocuments"> & {
    readonly leftOut: Entries;
    readonly otherDocuments: Omit<ReadEvent["otherDocuments"], "types"> & { readonly types: Entries };
  };
  readonly applied: Omit<ApplyEvent, "places">;
};

type Entries = readonly (readonly [string, number])[];

/** What a pass reported if it has left nothing to do or to tell; null otherwise. */
export function settledEnd(read: ReadEvent, applied: ApplyEvent): SettledEnd | null {
  if (applied.isPart || !applied.plan.complete) return null;
  const { report, plan } = applied;
  const diagnostics = [...read.diagnostics, ...read.selected, ...report.diagnostics, ...plan.diagnostics];
  if (hasErrors(diagnostics) || applied.tokens.length > 0) return null;
  const isSettled = report.outcomes.every(
    ({ result, rollout }) => result === "unchanged" && (rollout === null || rollout === "succeeded"),
  );
  if (!isSettled || plan.summary.drift > 0 || plan.summary.orphan > 0) return null;
  const { places: _, ...end } = applied;
  const others = read.otherDocuments;
  return {
    read: { ...read, leftOut: [...read.leftOut], otherDocuments: { ...others, types: [...others.types] } },
    // As of a pass over a part: what is known of the resources stays as it is.
    applied: { ...end, isPart: true, report: { ...report, outcomes: [] }, plan: { ...plan, steps: [] } },
  };
}

/** The events of a pass that was not made, since it would have found what an earlier one has. */
export function settledEvents({ read, applied }: SettledEnd, isOwn: boolean): readonly PassEvent[] {
  return [
    { what: "unchanged", isOwn },
    {
      ...read,
      leftOut: new Map(read.leftOut),
      otherDocuments: { ...read.otherDocuments, types: new Map(read.otherDocuments.types) },
    },
    { ...applied, places: new Map() },
  ];
}
