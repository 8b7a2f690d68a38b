import type { Transaction } from "kysely";
import type { Authenticator } from "./auth/authenticate.ts";
import type { Context } from "./context.ts";
import type { Tables } from "./database/tables.ts";
import type { ServedOperation } from "./http/serve-operation.ts";
import type { ReferenceTarget } from "./manifest/reference-target.ts";
import type { Schemas } from "./openapi/schema.ts";
import type { SeedRule } from "./seed/seed-rule.ts";
import type { SnapshotPart } from "./snapshot/snapshot-part.ts";

/** A heading of the reference, under which the operations of one or more resources stand. */
export type ReferenceSection = { readonly name: string; readonly description: string };

/** Work that needs no request. */
export type BackgroundJob = {
  readonly name: string;
  /** Does what is due, and answers when to come again, in epoch milliseconds; null when nothing is expected. */
  readonly run: (context: Context) => Promise<number | null>;
  /** What is left to do when the server ends. */
  readonly finish?: (context: Context) => Promise<void>;
};

/** All that the server has to know of a resource; `resources/` has one for each of its files and folders. */
export type Resource = {
  readonly section: ReferenceSection;
  readonly operations: readonly ServedOperation[];
  /** Knows callers by tokens that are of this resource. */
  readonly authenticate?: Authenticator;
  /** What manifests can refer to. */
  readonly references?: readonly ReferenceTarget[];
  /** How the manifests of a seed folder are created, by their `type`. */
  readonly seeds?: { readonly [type: string]: SeedRule };
  /** What is copied from a snapshot of another control plane. */
  readonly snapshot?: readonly SnapshotPart[];
  /** What moves on by itself after a write: rollouts and runs. Answers as a background job does. */
  readonly advance?: (context: Context) => Promise<number | null>;
  readonly jobs?: readonly BackgroundJob[];
  /** Forgets what has ended; once an hour. */
  readonly forget?: (transaction: Transaction<Tables>, context: Context) => Promise<void>;
  /** Schemas of manifests that have no file in `schemas/`, or that the server takes in another form. */
  readonly manifestSchemas?: (schemas: Schemas, unknownFields: "refuse" | "allow") => Schemas;
};
