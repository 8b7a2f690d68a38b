import type { Kysely } from "kysely";
import type { Json, JsonObject } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Tables } from "../database/tables.ts";
import type { OperationBody, OperationPath, OperationQuery } from "../http/operation-call.ts";
import type { Schema } from "./schema.ts";

/** What there is to say of a parameter in a path or query. */
export type ParameterDescription = { readonly description: string; readonly example: Json; readonly schema?: Schema };

/** What the OpenAPI document says of an operation beyond its row in the table of operations. */
export type OperationDescription = {
  /** Paragraphs are separated by blank lines. */
  readonly description: string;
  /** The schema of `schemas/components` that it answers, one or many; absent where it answers an empty object. */
  readonly answers?: string;
  readonly manifest?: Schema;
  /** The members of its body besides `manifest` and `dryRun`. */
  readonly members?: { readonly [name: string]: Schema };
  /** Its parameters in path and query besides `fqn` and `name`. */
  readonly parameters?: { readonly [name: string]: ParameterDescription };
  /** What stands beside `data` in its reply. */
  readonly beside?: { readonly [name: string]: Schema };
  /** The names of those that every reply has. */
  readonly alwaysBeside?: readonly string[];
  /** Where its refusals are others than those of operations of its sort: statuses that it has too, or never has. */
  readonly refuses?: { readonly also?: readonly number[]; readonly never?: readonly number[] };
  /** The scope of leases that a write is about, as its request names it; everything where it says none. */
  readonly scope?: WrittenScope;
};

/** What a write is about, in the form of a lease's scope: `c1`, `c1:ws1`, `ml-repo/r`. */
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

/** The description of one operation: the compiler asks for every member and parameter that it has. */
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
