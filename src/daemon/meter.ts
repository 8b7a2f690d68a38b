import type { OnRequest } from "../client/call.ts";

/** What a daemon counts by result, besides its passes. */
export type CountedResults = {
  /** Fetches of a source. */
  readonly fetches: "fetched" | "failed";
  /** Push webhooks of a source: a repeated one triggers no pass. */
  readonly webhooks: "accepted" | "repeated" | "refused";
  /** Pushes of the ref that names the last applied commit of a target. */
  readonly refPushes: "published" | "failed";
  /** Commit statuses of a target. */
  readonly commitStatuses: "delivered" | "failed";
  /** Looks at what may be promoted to a target. */
  readonly promotions: "created" | "updated" | "unchanged" | "closed" | "withdrawn" | "nothing" | "waiting" | "failed";
  /** Looks at the pull request of what was changed in the live of a target. */
  readonly driftProposals: "created" | "updated" | "unchanged" | "closed" | "withdrawn" | "failed";
  /** Messages to a receiver of notifications; `dropped`: too many waited. */
  readonly notifications: "delivered" | "failed" | "dropped";
};

/** Measures what a daemon does beside its passes. */
export type Meter = {
  /** A request to the control plane has ended. */
  readonly request: OnRequest;
  /** Counts one for the named source, target or receiver. */
  readonly count: <What extends keyof CountedResults>(what: What, name: string, result: CountedResults[What]) => void;
  /** A fetch of the named source took so long. */
  readonly fetched: (source: string, milliseconds: number) => void;
};
