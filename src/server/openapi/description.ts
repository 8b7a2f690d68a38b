import type { Json } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Body, PathValues, Query } from "../http/call.ts";
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
};

type Described<Field extends string, Names, Value> = [Names] extends [never]
  ? unknown
  : { readonly [field in Field]: { readonly [name in Names & string]: Value } };

/** The description of one operation: the compiler asks for every member and parameter that it has. */
export type DescriptionOf<Name extends OperationName> = Omit<
  OperationDescription,
  "manifest" | "members" | "parameters"
> &
  ("manifest" extends keyof Body<Name> ? { readonly manifest: Schema } : unknown) &
  Described<"members", Exclude<keyof Body<Name>, "manifest" | "dryRun">, Schema> &
  Described<"parameters", keyof PathValues<Name> | Exclude<keyof Query<Name>, "fqn" | "name">, ParameterDescription>;
