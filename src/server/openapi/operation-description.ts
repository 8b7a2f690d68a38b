import type { Kysely } from "kysely";
import type { Json, JsonObject } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Tables } from "../database/tables.ts";
import type { OperationBody, OperationPath, OperationQuery } from "../http/operation-call.ts";
import type { Schema } from "./json-schema.ts";

/** The description of a parameter in a path or query. */
export type ParameterDescription = { readonly description: string; readonly example: Json; readonly schema?: Schema };

/** The documentation of an operation beyond its row in the table of operations. */
export type OperationDescription = {
  /** Paragraphs are separated by blank lines. */
  readonly description: string;
  /** The schema in `schemas/components` of its reply, for one or many; absent when it returns an empty object. */
  readonly replySchema?: string;
  readonly manifest?: Schema;
  /** The members of its body, except `manifest` and `dryRun`. */
  readonly members?: { readonly [name: string]: Schema };
  /** Its parameters in path and query, except `fqn` and `name`. */
  readonly parameters?: { readonly [name: string]: ParameterDescription };
  /** The members next to `data` in its reply. */
  readonly beside?: { readonly [name: string]: Schema };
  /** The names of those that are in every reply. */
  readonly alwaysBeside?: readonly string[];
  /** Error statuses that it has in addition to similar operations, or never has. */
  readonly refuses?: { readonly also?: readonly number[]; readonly never?: readonly number[] };
  /** The lease scope of a write, read from its request; the root scope when it returns none. */
  readonly scope?: WrittenScope;
};

/** Returns the lease scope that a write belongs to: `c1`, `c1:ws1`, `ml-repo/r`. */
export type WrittenScope = (
  request: {
    readonly members: JsonObject;
    readonly manifest: JsonObject;
    readonly path: { readonly [name: string]: string };
  },
  database: Kysely<Tables>,
) => string | undefined | Promise<string | undefined>;

type Described<Field extends string, Names, Value> = [Names] extends [never]
  ? unknown
  : { readonly [field in Field]: { readonly [name in Names & string]: Value } };

/** The description of one operation; the compiler requires all of its members and parameters. */
export type DescriptionOf<Name extends OperationName> = Omit<
  OperationDescription,
  "manifest" | "members" | "parameters"
> &
  ("manifest" extends keyof OperationBody<Name> ? { readonly manifest: Schema } : unknown) &
  Described<"members", Exclude<keyof OperationBody<Name>, "manifest" | "dryRun">, Schema> &
  Described<
    "parameters",
    keyof OperationPath<Name> | Exclude<keyof OperationQuery<Name>, "fqn" | "name">,
    ParameterDescription
  >;

/** The description of every PUT that declares a resource by a manifest. */
export const REPLACE_DESCRIPTION =
  "A PUT replaces the manifest as a whole. The same manifest again changes nothing, `updatedAt` included.";

/** The description of every write of a version. */
export const VERSION_DESCRIPTION =
  "The content of a version is its manifest without `version`, `description`, `metadata` and `version_alias`. With a `version`: equal content updates those three in place, changed content is 409, the newest number + 1 is created, and a higher number is 422. Without a `version`: content equal to the newest version updates it in place, other content becomes the next version. A `version_alias` moves to the version being written.";

/** A token in the only reply that has it. */
export const oneTimeToken: Schema = {
  description: "The token, in this reply only",
  type: "string",
  examples: ["hf_pat_…"],
};
