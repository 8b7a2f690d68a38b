import type { ErrorBody, ErrorDetail } from "../contract/resources.ts";

/** A request that is answered with an error: its status, what is wrong, and where. */
export class Refusal extends Error {
  override readonly name = "Refusal";
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
      readonly details?: readonly ErrorDetail[];
      readonly headers?: { readonly [name: string]: string };
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** The body that tells a client of a refusal. */
export function errorBody({ status, code, message, details }: Refusal): ErrorBody {
  return { statusCode: status, message, code, ...(details.length > 0 && { details }) };
}

/** 400: the request's own shape is wrong. */
export function badRequest(message: string, details: readonly ErrorDetail[] = []): Refusal {
  return new Refusal(400, "bad-request", message, { details });
}

/** 404: the thing is absent, or not visible to the caller; both read the same. */
export function notFound(what: string): Refusal {
  return new Refusal(404, "not-found", `${what} was not found`);
}

/** 403: the caller may not do this. */
export function forbidden(message: string): Refusal {
  return new Refusal(403, "forbidden", message);
}

/** 409: the request is sound, and what exists is in its way. */
export function conflict(code: string, message: string): Refusal {
  return new Refusal(409, code, message);
}

/** 422: the manifest is refused, for all of these faults. */
export function unprocessable(details: readonly ErrorDetail[]): Refusal {
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  const where = first?.pointer ? `${first.pointer}: ` : "";
  return new Refusal(422, "unprocessable", `${where}${first?.message ?? "refused"}${more}`, { details });
}
