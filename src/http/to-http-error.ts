import { HttpError } from "./http-error.ts";

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

// Errors of fastify have a status; below 500 the request was wrong.
function frameworkError(error: unknown): HttpError | null {
  if (!(error instanceof Error && "statusCode" in error && typeof error.statusCode === "number")) return null;
  if (error.statusCode === 413) return bodyTooLarge();
  if (error.statusCode < 400 || error.statusCode >= 500) return null;
  const [code, message] = messages[error.statusCode] ?? ["bad-request", "the request is not well formed"];
  return new HttpError(error.statusCode, code, message);
}
