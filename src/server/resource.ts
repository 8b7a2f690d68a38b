import type { Served } from "./http/serve.ts";
import type { ReferenceTarget } from "./manifest/reference-target.ts";
import type { Schemas } from "./openapi/schema.ts";
import type { Seeding } from "./seed/seeding.ts";
import type { SnapshotPart } from "./snapshot/part.ts";

/** A heading of the reference, under which the operations of one or more resources stand. */
export type Section = { readonly name: string; readonly description: string };

/** All that the server has to know of a resource; `resources/` has one for each of its files and folders. */
export type Resource = {
  readonly section: Section;
  readonly operations: readonly Served[];
  /** What manifests can refer to. */
  readonly references?: readonly ReferenceTarget[];
  /** How the manifests of a seed folder are created, by their `type`. */
  readonly seeds?: { readonly [type: string]: Seeding };
  /** What is copied from a snapshot of another control plane. */
  readonly snapshot?: readonly SnapshotPart[];
  /** Schemas of manifests that have no file in `schemas/`, or that the server takes in another form. */
  readonly manifestSchemas?: (schemas: Schemas, unknownFields: "refuse" | "allow") => Schemas;
};
