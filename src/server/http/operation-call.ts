import type { Json, JsonObject } from "../../contract/json.ts";
import type { Member, OperationName, operations, Parameter, Replies } from "../../contract/operations.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Principal } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import type { JsonText } from "../database/json-text.ts";

type Row<Name extends OperationName> = (typeof operations)[Name];

/** The values of parameters and members, by the forms of the table. */
type ValueOf = {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
  readonly integers: readonly number[];
  readonly object: JsonObject;
  readonly list: readonly Json[];
};

type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

/** The parameters of an operation's path. */
export type OperationPath<Name extends OperationName> = { readonly [name in PathNames<Row<Name>["path"]>]: string };

/** The query parameters of an operation. */
export type OperationQuery<Name extends OperationName> =
  Row<Name> extends { readonly query: infer Forms extends { readonly [name: string]: Parameter } }
    ? { readonly [name in keyof Forms]?: ValueOf[Forms[name]] }
    : Readonly<Record<never, never>>;

/** The body, typed by the table of operations. */
export type OperationBody<Name extends OperationName> =
  Row<Name> extends { readonly body: infer Forms extends { readonly [name: string]: Member } }
    ? {
        readonly [name in keyof Forms as Forms[name] extends { readonly required: true }
          ? name
          : never]: ValueOf[Forms[name]["is"]];
      } & {
        readonly [name in keyof Forms as Forms[name] extends { readonly required: true }
          ? never
          : name]?: ValueOf[Forms[name]["is"]];
      }
    : Readonly<Record<never, never>>;

/** The requested part of a list. */
export type PageRequest = { readonly limit: number; readonly offset: number };

/** A validated request, and its caller. */
export type OperationCall<Name extends OperationName> = {
  readonly principal: Principal;
  readonly path: OperationPath<Name>;
  readonly query: OperationQuery<Name>;
  readonly page: PageRequest;
  readonly body: OperationBody<Name>;
};

/** What an operation returns, by the form of its reply. */
export type OperationResult<Name extends OperationName> = Row<Name>["reply"] extends "one"
  ? {
      /** A dry run returns the resource as it would be; a new one has no id. */
      readonly data: JsonText<Replies[Name]> | JsonText<Omit<Replies[Name], "id">>;
      /** Members next to `data`: a one-time token. */
      readonly beside?: { readonly token?: Secret; readonly created?: boolean };
    }
  : Row<Name>["reply"] extends "list"
    ? { readonly rows: readonly JsonText<Replies[Name]>[]; readonly total: number }
    : Row<Name>["reply"] extends "bare"
      ? JsonText<Replies[Name]>
      : undefined;

/** Executes an operation; throws an HttpError when it is refused. */
export type Handler<Name extends OperationName> = (
  call: OperationCall<Name>,
  context: Context,
) => Promise<OperationResult<Name>>;
