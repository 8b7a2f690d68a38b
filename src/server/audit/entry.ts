import type { Json } from "../../contract/json.ts";
import type { AuditOutcome } from "../database/tables.ts";
import type { ApplicationVersion } from "./application-version.ts";

/** What the audit log tells of a request. */
export type CallMarks = {
  readonly requestId: string;
  /** The address of the connection. */
  readonly address: string;
  /** The name of the credential. */
  readonly token?: string;
  /** The person who asked for it, as the caller says. */
  readonly actor?: string;
  /** The commit and the pass that it belongs to, as the caller says. */
  readonly commit?: string;
  readonly pass?: string;
  /** Who made the plan that it belongs to, and who has approved that, as the caller says. */
  readonly planner?: string;
  readonly approvers?: readonly string[];
  readonly keyHash?: string | null;
  readonly fencingNumber?: number | null;
  /** Whether it is only tried, and rolled back. */
  readonly isProbe?: true;
};

/** What a row says besides its columns. */
export type AuditDetails = Partial<Omit<CallMarks, "keyHash" | "fencingNumber" | "isProbe">> & {
  /** What the write of an application has made, in place of `changes`. */
  readonly made?: ApplicationVersion;
  /** The name of the operation, where its number does not determine it. */
  readonly name?: string;
  readonly isNew?: true;
  readonly changes?: readonly FieldChange[];
  /** How many further fields have changed. */
  readonly moreChanges?: number;
  readonly status?: number;
  readonly code?: string;
  readonly isDryRun?: true;
  /** How many requests the row stands for, without their operations and resources. */
  readonly count?: number;
};

/** A changed field, its secrets masked; a side that did not have it is absent. */
type FieldChange = { readonly field: string; readonly before?: Json; readonly after?: Json };

/** A row of the audit as its writer sees it. */
export type NewAuditRow = {
  readonly principal: string;
  readonly operation: string;
  readonly resource: string;
  readonly outcome: AuditOutcome;
  readonly keyHash: string | null;
  readonly fencingNumber: number | null;
  readonly details: AuditDetails;
};
