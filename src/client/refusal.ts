import { Buffer } from "node:buffer";
import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { isDocumented, type Operation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import type { FailureReason, RefusalDetail } from "./client-error.ts";

/** An answer that says no: the request had no effect. */
export type Refusal = {
  readonly reason: FailureReason;
  readonly status: number;
  readonly code: string | null;
  readonly message: string;
  readonly details: readonly RefusalDetail[];
};

const DETAILS = 100;
/** How many faults a message names. */
const SAID = 3;
// What common frameworks say of a route they do not have; a resource's own 404 has words of its own.
const ROUTE_WORDS = /^(?:Cannot (?:GET|PUT|POST) \/|Route (?:GET|PUT|POST):|404 page not found|Not Found$)/i;

/** Reads a refusal from a status and a body in any of the forms that are known, or none. */
export function readRefusal(
  operation: Operation,
  status: number,
  { body, raw, token }: { readonly body: Json | undefined; readonly raw: string; readonly token: Secret },
): Refusal {
  const show = (value: string) => excerpt(value, { without: token });
  const fields: JsonObject = isObject(body) ? body : {};
  const code = text(fields.code);
  const told = ownMessage(fields) ?? (isObject(body) ? "" : summary(raw));
  const faults = details(fields, show);
  return {
    reason: reasonOf(operation, status, { code, told, structured: isObject(body), isPage: isPage(raw) }),
    status,
    code: code === undefined ? null : show(code),
    message: told === "" ? show(listed(faults)) : show(told),
    details: faults,
  };
}

function ownMessage({ message, error, detail }: JsonObject): string | undefined {
  return text(message) ?? text(error) ?? text(detail) ?? (isObject(error) ? text(error.message) : undefined);
}

// A list of faults without a sentence of its own speaks for itself.
function listed(faults: readonly RefusalDetail[]): string {
  const lines = faults
    .filter(({ message }) => message !== "")
    .map(({ pointer, message }) => `${pointer} ${message}`.trim());
  const more = lines.length > SAID ? `, and ${lines.length - SAID} more` : "";
  return lines.slice(0, SAID).join("; ") + more;
}

// A page of markup is of no use to anyone who reads one line.
function summary(raw: string): string {
  return isPage(raw) ? "" : raw.trim();
}

function isPage(raw: string): boolean {
  return /^\s*</.test(raw);
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

type Told = {
  readonly code: string | undefined;
  readonly told: string;
  readonly structured: boolean;
  /** Markup, as gateways answer with. */
  readonly isPage: boolean;
};

function reasonOf(operation: Operation, status: number, told: Told): FailureReason {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      if (!told.structured && !isDocumented(operation)) return "route-missing";
      return told.isPage ? "protocol" : "forbidden";
    case 404:
      return isRouteMissing(operation, told) ? "route-missing" : "not-found";
    case 405:
    case 501:
      return "route-missing";
    case 409:
      return "conflict";
    case 412:
      return "fenced";
    case 413:
      // A read has no body that could be too large: its reply would be.
      return operation.method === "GET" ? "oversize" : "refused";
    case 429:
    case 503:
      return "throttled";
    default:
      return "refused";
  }
}

// A wrong guess one way hides a resource, the other way it hides a route: only clear words decide. Whether an extension is
// missing is found out beyond that (`missing-route.ts`).
function isRouteMissing({ path, method }: Operation, { code, told, structured }: Told): boolean {
  const isAlwaysThere = needsNoResource(path, method);
  if (code !== undefined) return code === "route-not-found" || (code !== "not-found" && isAlwaysThere);
  if (!structured || isAlwaysThere) return true;
  return ROUTE_WORDS.test(told) && !(told.length === "Not Found".length && path.includes("{"));
}

// A collection is there although it is empty, and what a PUT names by its path need not be there before.
function needsNoResource(path: string, method: Operation["method"]): boolean {
  return path.includes("{") ? method === "PUT" : method === "GET";
}

const LIMIT = 2048;

/** Text of a stranger, fit to be shown: at most 2 KiB, nothing invisible in it, and without the caller's token. */
export function excerpt(text: string, { without }: { readonly without?: Secret } = {}): string {
  const token = without?.open() ?? "";
  const masked = token === "" ? text : text.replaceAll(token, String(without));
  const shown = escapeUnprintable(masked.slice(0, LIMIT));
  return Buffer.byteLength(shown) <= LIMIT && masked.length <= LIMIT ? shown : `${cut(shown)} …`;
}

// Decoding a cut sequence leaves replacement characters at the end, which `trimEnd` of them removes.
function cut(text: string): string {
  return Buffer.from(text)
    .subarray(0, LIMIT - 4)
    .toString()
    .replace(/\ufffd+$/, "");
}
