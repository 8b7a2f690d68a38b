// src/server/http: from requests to operations and back. See docs/control-plane.md#limits.

import type { Json } from "../../contract/json.ts";
import { REPLY_CAP } from "../../contract/limits.ts";
import { isListOperation, type OperationName, operation } from "../../contract/operations.ts";
import type { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import type { QueryText } from "../../http/parse-query.ts";
import type { Principal } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import type { JsonText } from "../database/json-text.ts";
import type { DescriptionOf, OperationDescription } from "../openapi/operation-description.ts";
import type { Handler, OperationCall, OperationResult, PageRequest } from "./operation-call.ts";
import { readBody, readPageRequest, readQuery } from "./read-request.ts";
import { byteLength, checkPageSize, checkReplySize } from "./reply-size.ts";

/** A request whose caller is known, not validated yet. */
export type OperationRequest = {
  readonly principal: Principal;
  readonly path: { readonly [name: string]: string };
  readonly query: QueryText;
  readonly body: Json | undefined;
};

/** An operation that is served: it validates a request, and returns the reply as JSON text in pieces. */
export type ServedOperation = {
  readonly name: OperationName;
  readonly description: OperationDescription;
  readonly run: (request: OperationRequest, context: Context) => Promise<readonly string[]>;
};

/** Defines how an operation is served: by its handler, and described so in the OpenAPI document. */
export function defineOperation<Name extends OperationName>(
  name: Name,
  handler: Handler<Name>,
  description: DescriptionOf<Name>,
): ServedOperation {
  return {
    name,
    description,
    run: async (request, context) => {
      const page = isListOperation(name) ? readPageRequest(request.query) : { limit: 1, offset: 0 };
      return envelope(await handler(readCall(name, request, page), context), page);
    },
  };
}

/** The refusal of an operation that no resource serves. */
export function notImplemented(name: OperationName): HttpError {
  return new HttpError(501, "not-implemented", `operation ${name} is not implemented`);
}

function readCall<Name extends OperationName>(
  name: Name,
  request: OperationRequest,
  page: PageRequest,
): OperationCall<Name> {
  const { query, body } = operation(name);
  return {
    principal: request.principal,
    path: request.path as OperationCall<Name>["path"],
    query: readQuery(query, request.query) as OperationCall<Name>["query"],
    page,
    body: (body === undefined ? {} : readBody(body, request.body)) as OperationCall<Name>["body"],
  };
}

type One = { readonly data: string; readonly beside?: { readonly token?: Secret; readonly created?: boolean } };
type List = { readonly rows: readonly string[]; readonly total: number };

function envelope<Name extends OperationName>(given: OperationResult<Name>, page: PageRequest): readonly string[] {
  const result: One | List | JsonText<unknown> | undefined = given;
  if (result === undefined) return ["{}"];
  if (typeof result === "string") return [checkReplySize(result)];
  if ("data" in result) return [checkReplySize(`{"data":${result.data}${besideText(result.beside)}}`)];
  const pagination = JSON.stringify({ total: result.total, offset: page.offset, limit: page.limit });
  return piecesOf(result.rows, `],"pagination":${pagination}}`);
}

// Pieces of this size are freed in V8's young generation; whole pages would stay until a major collection.
const PIECE_LENGTH = 65_536;

function piecesOf(rows: readonly string[], tail: string): readonly string[] {
  // A UTF-16 unit has at most three bytes: short pages need not be measured.
  if (rows.reduce((length, row) => length + row.length, 0) * 3 > REPLY_CAP)
    checkPageSize(rows.values().map(byteLength));
  const pieces: string[] = [];
  let piece = ['{"data":['];
  let size = 0;
  for (const [at, row] of rows.entries()) {
    if (size > PIECE_LENGTH) {
      pieces.push(piece.join(""));
      piece = [];
      size = 0;
    }
    piece.push(at === 0 ? "" : ",", row);
    size += row.length;
  }
  return [...pieces, [...piece, tail].join("")];
}

function besideText(beside: One["beside"]): string {
  // A new token is shown in this reply alone.
  const token = beside?.token === undefined ? "" : `,"token":${JSON.stringify(beside.token.open())}`;
  return beside?.created === undefined ? token : `${token},"created":${beside.created}`;
}
