import type { ErrorBody, ErrorDetail } from "../contract/generated/resources.ts";
import { MAX_ERROR_DETAILS } from "../contract/limits.ts";

// Pointers and messages repeat names that the caller chose.
const MAX_TEXT_LENGTH = 1000;

/** An error that is returned to the client: its status, its message, and the location of each fault. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  readonly headers: { readonly [name: string]: string };

  constructor(
    status: number,
    code: string,
    message: string,
    {
      details = [],
      headers = {},
      cause,
    }: {
      readonly details?: Iterable<ErrorDetail>;
      readonly headers?: { readonly [name: string]: string };
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = listDetails(details).listed;
    this.headers = headers;
  }
}

/** The body of an error reply. */
export function errorBody({ status, code, message, details }: HttpError): ErrorBody {
  return { statusCode: status, message, code, ...(details.length > 0 && { details }) };
}

/** 400: the request is malformed. */
export function badRequest(message: string): HttpError {
  return new HttpError(400, "bad-request", message);
}

/** 400: the request is malformed in all of these places. */
export function malformed(details: Iterable<ErrorDetail>): HttpError {
  return detailed(400, "bad-request", listDetails(details));
}

/** 404: the resource is absent or not visible to the caller; the reply is the same. */
export function notFound(what: string): HttpError {
  return new HttpError(404, "not-found", `${what} was not found`);
}

/** 429, with how many seconds the caller should wait. */
export function tooManyRequests(seconds: number, message: string): HttpError {
  const headers = { "retry-after": String(Math.ceil(seconds)) };
  return new HttpError(429, "too-many-requests", message, { headers });
}

/** 403: the caller may not do this. */
export function forbidden(message: string): HttpError {
  return new HttpError(403, "forbidden", message);
}

/** 409: the request conflicts with the current state. */
export function conflict(code: string, message: string): HttpError {
  return new HttpError(409, code, message);
}

/** 422: the manifest is invalid, for all of these errors and `beyond` others. */
export function unprocessable(details: Iterable<ErrorDetail>, beyond = 0): HttpError {
  const { listed, total } = listDetails(details);
  return detailed(422, "unprocessable", { listed, total: total + beyond });
}

type Listed = { readonly listed: readonly ErrorDetail[]; readonly total: number };

function detailed(status: number, code: string, { listed, total }: Listed): HttpError {
  const [first] = listed;
  const more = total > 1 ? ` (and ${total - 1} more)` : "";
  const where = first?.pointer ? `${first.pointer}: ` : "";
  return new HttpError(status, code, `${cut(where + (first?.message ?? "refused"))}${more}`, { details: listed });
}

function listDetails(details: Iterable<ErrorDetail>): Listed {
  const listed: ErrorDetail[] = [];
  let total = 0;
  for (const { pointer, message, code } of details) {
    total += 1;
    if (total <= MAX_ERROR_DETAILS) listed.push({ pointer: cut(pointer), message: cut(message), code });
  }
  return { listed, total };
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

/** Translates any error into an HTTP error; the message of an unknown error is not shown. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  return frameworkError(error) ?? new HttpError(500, "internal", "the server failed; its log says why");
}

const messages: { readonly [status: number]: readonly [code: string, message: string] } = {
  408: ["request-timeout", "the request took too long to arrive"],
  414: ["path-too-long", "the path is too long"],
  415: ["not-json", "the body must be application/json"],
};

/** 413: the body is too large. */
export function bodyTooLarge(): HttpError {
  return new HttpError(413, "body-too-large", "the body is larger than 8 MiB");
}

// Errors of fastify have a status; a status below 500 means that the request was invalid.
function frameworkError(error: unknown): HttpError | null {
  if (!(error instanceof Error && "statusCode" in error && typeof error.statusCode === "number")) return null;
  if (error.statusCode === 413) return bodyTooLarge();
  if (error.statusCode < 400 || error.statusCode >= 500) return null;
  const [code, message] = messages[error.statusCode] ?? ["bad-request", "the request is not well formed"];
  return new HttpError(error.statusCode, code, message);
}
