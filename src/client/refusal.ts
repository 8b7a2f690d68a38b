import { Buffer } from "node:buffer";
import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { isDocumented, type Operation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import type { FailureReason, RefusalDetail } from "./client-error.ts";

/** A refusal by the server: the request had no effect. */
export type Refusal = {
  readonly reason: FailureReason;
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
  readonly details: readonly RefusalDetail[];
};

const DETAILS = 100;
/** The maximum number of faults in a message. */
const LISTED = 3;
// The messages of common frameworks for a missing route. A 404 for a missing resource has another message.
const ROUTE_MESSAGE = /^(?:Cannot (?:GET|PUT|POST) \/|Route (?:GET|PUT|POST):|404 page not found|Not Found$)/i;

/** Reads a refusal from a status and a body of any known form, or of none. */
export function readRefusal(
  operation: Operation,
  status: number,
  { body, raw, token }: { readonly body: Json | undefined; readonly raw: string; readonly token: Secret },
): Refusal {
  const show = (value: string) => excerpt(value, { without: token });
  const fields: JsonObject = isObject(body) ? body : {};
  const code = text(fields.code);
  const bodyForm = formOf(body, raw);
  const message = messageOf(fields) ?? (bodyForm === "text" ? raw.trim() : "");
  const faults = details(fields, show);
  return {
    reason: reasonOf(operation, status, { code, message, bodyForm }),
    status,
    code: code === undefined ? null : show(code),
    message: message === "" ? show(listed(faults)) : show(message),
    details: faults,
  };
}

/** The form of a body; gateways and web servers answer with markup. */
type BodyForm = "json" | "markup" | "text";

function formOf(body: Json | undefined, raw: string): BodyForm {
  if (isObject(body)) return "json";
  return /^\s*</.test(raw) ? "markup" : "text";
}

function messageOf({ message, error, detail }: JsonObject): string | undefined {
  return text(message) ?? text(error) ?? text(detail) ?? (isObject(error) ? text(error.message) : undefined);
}

// The message of a refusal that consists only of a list of faults.
function listed(faults: readonly RefusalDetail[]): string {
  const lines = faults
    .filter(({ message }) => message !== "")
    .map(({ pointer, message }) => `${pointer} ${message}`.trim());
  const more = lines.length > LISTED ? `, and ${lines.length - LISTED} more` : "";
  return lines.slice(0, LISTED).join("; ") + more;
}

function details(fields: JsonObject, show: (value: string) => string): readonly RefusalDetail[] {
  const given = [fields.details, fields.detail].find((value) => Array.isArray(value)) ?? [];
  return given
    .slice(0, DETAILS)
    .filter((item: Json) => isObject(item))
    .map((item: JsonObject) => ({
      pointer: show(text(item.pointer) ?? locationPointer(item.loc)),
      message: show(text(item.message) ?? text(item.msg) ?? ""),
      code: show(text(item.code) ?? text(item.type) ?? "") || null,
    }));
}

// `loc` is a path from the request: ["body", "manifest", "ports", 0, "host"].
function locationPointer(location: Json | undefined): string {
  if (!Array.isArray(location)) return "";
  const steps = location.map(String);
  const start = steps.indexOf("manifest") + 1 || (steps[0] === "body" ? 1 : 0);
  return steps
    .slice(start)
    .map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

type RefusalBody = {
  readonly code: string | undefined;
  readonly message: string;
  readonly bodyForm: BodyForm;
};

function reasonOf(operation: Operation, status: number, body: RefusalBody): FailureReason {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      if (body.bodyForm !== "json" && !isDocumented(operation)) return "route-missing";
      return body.bodyForm === "markup" ? "protocol" : "forbidden";
    case 404:
      return isRouteMissing(operation, body) ? "route-missing" : "not-found";
    case 405:
    case 501:
      return "route-missing";
    case 409:
      return "conflict";
    case 412:
      return "fenced";
    case 413:
      // A read has no body, so the reply must be the part that is too large.
      return operation.method === "GET" ? "oversize" : "refused";
    case 429:
    case 503:
      return "throttled";
    default:
      return "refused";
  }
}

// Only an explicit message decides: one kind of wrong guess hides a resource, the other hides a route. Whether an
// extension is missing is confirmed separately (`missing-route.ts`).
function isRouteMissing({ path, method }: Operation, { code, message, bodyForm }: RefusalBody): boolean {
  const neverNotFound = needsNoResource(path, method);
  if (code !== undefined) return code === "route-not-found" || (code !== "not-found" && neverNotFound);
  if (bodyForm !== "json" || neverNotFound) return true;
  return ROUTE_MESSAGE.test(message) && !(message.length === "Not Found".length && path.includes("{"));
}

// A collection exists even if it is empty, and a PUT to a path with a parameter may create its resource.
function needsNoResource(path: string, method: Operation["method"]): boolean {
  return path.includes("{") ? method === "PUT" : method === "GET";
}

const LIMIT = 2048;

/** Untrusted text made safe to display: at most 2 KiB, no invisible characters, and the caller's token masked. */
export function excerpt(text: string, { without }: { readonly without?: Secret } = {}): string {
  const token = without?.open() ?? "";
  const masked = token === "" ? text : text.replaceAll(token, String(without));
  const shown = escapeUnprintable(masked.slice(0, LIMIT));
  return Buffer.byteLength(shown) <= LIMIT && masked.length <= LIMIT ? shown : `${cut(shown)} …`;
}

// Decoding a truncated UTF-8 sequence leaves replacement characters at the end, which are removed.
function cut(text: string): string {
  return Buffer.from(text)
    .subarray(0, LIMIT - 4)
    .toString()
    .replace(/\ufffd+$/, "");
}
