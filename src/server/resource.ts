// src/server: the control plane. See docs/control-plane.md#the-interface.

import type { Transaction } from "kysely";
import type { Authenticator } from "./auth/authenticate.ts";
import type { Context, ReferenceTarget } from "./context.ts";
import type { Tables } from "./database/tables.ts";
import type { ServedOperation } from "./http/define-operation.ts";
import type { Schemas } from "./openapi/json-schema.ts";
import type { SeedRule } from "./seed/seed-rule.ts";
import type { SnapshotPart } from "./snapshot/snapshot-part.ts";

/** A section of the reference with the operations of one or more resources. */
export type ReferenceSection = { readonly name: string; readonly description: string };

/** Work that runs in the background. */
export type BackgroundJob = {
  readonly name: string;
  /** Does the work that is due, and returns when to run again, in epoch milliseconds; null when nothing is scheduled. */
  readonly run: (context: Context) => Promise<number | null>;
  /** Work when the server stops. */
  readonly finish?: (context: Context) => Promise<void>;
};

/** Everything that the server knows of a resource; each file or folder in `resources/` defines one. */
export type ResourceDefinition = {
  readonly section: ReferenceSection;
  readonly operations: readonly ServedOperation[];
  /** Authenticates callers by tokens of this resource. */
  readonly authenticate?: Authenticator;
  /** The kinds that manifests can refer to. */
  readonly references?: readonly ReferenceTarget[];
  /** How the manifests of a seed folder are created, by their `type`. */
  readonly seeds?: { readonly [type: string]: SeedRule };
  /** The rows that are copied from a snapshot of another control plane. */
  readonly snapshot?: readonly SnapshotPart[];
  /** Advances rollouts or runs; returns when to run again, like a background job. */
  readonly advance?: (context: Context) => Promise<number | null>;
  readonly jobs?: readonly BackgroundJob[];
  /** Numbers for the metrics. */
  readonly gauges?: readonly ResourceGauge[];
  /** Deletes expired rows, once an hour. */
  readonly forget?: (transaction: Transaction<Tables>, context: Context) => Promise<void>;
  /** Schemas of manifests without a file in `schemas/`, or that the server accepts in another form. */
  readonly manifestSchemas?: (schemas: Schemas, unknownFields: "refuse" | "allow") => Schemas;
};

/** A number that a resource adds to the metrics, read from the database when they are collected. */
export type ResourceGauge = {
  readonly name: string;
  readonly help: string;
  /** Whether anyone may read it, or only callers who read the whole tenant. */
  readonly shownTo: "everyone" | "trusted";
  readonly read: (context: Context) => Promise<number>;
};
