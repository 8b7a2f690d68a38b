import type { ErrorDetail } from "../../contract/generated/resources.ts";
import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { escapePointer } from "../../contract/json-pointer.ts";
import type { Member, Operation, Parameter } from "../../contract/operations.ts";
import { badRequest, malformed } from "../../http/http-error.ts";
import type { QueryText } from "../../http/parse-query.ts";
import type { PageRequest } from "./operation-call.ts";

const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;

/** Reads `limit` and `offset`. */
export function readPageRequest(query: QueryText): PageRequest {
  const limit = readInteger(query, "limit") ?? DEFAULT_LIMIT;
  if (limit < 1 || limit > MAX_LIMIT) throw badRequest(`limit must be from 1 to ${MAX_LIMIT}`);
  return { limit, offset: readInteger(query, "offset") ?? 0 };
}

/** Reads the query parameters of an operation; unknown ones are ignored. */
export function readQuery(forms: Operation["query"], query: QueryText): Readonly<Record<string, unknown>> {
  const values = Object.entries(forms ?? {}).map(([name, form]) => [name, readParameter(query, name, form)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The body of an operation as an object; 400 with every member that is unknown, missing or of another type. */
export function readBody(forms: Operation["body"], body: unknown): JsonObject {
  if (!isObject(body)) throw badRequest("the body must be a JSON object");
  const known = new Map(Object.entries(forms ?? {}));
  const faults = [
    ...Object.keys(body).flatMap((name) => (known.has(name) ? [] : [unknownMember(name)])),
    ...known.entries().flatMap(([name, member]) => memberFault(name, member, body)),
  ];
  if (faults.length > 0) throw malformed(faults);
  return body;
}

function readParameter(query: QueryText, name: string, form: Parameter): unknown {
  switch (form) {
    case "string":
      return readSingle(query, name);
    case "integer":
      return readInteger(query, name);
    case "boolean":
      return readBoolean(query, name);
    case "strings":
      return query.get(name);
    case "integers":
      return query.get(name)?.map((value) => integer(name, value));
  }
}

function readSingle(query: QueryText, name: string): string | undefined {
  const values = query.get(name) ?? [];
  if (values.length > 1) throw badRequest(`${name} is given more than once`);
  return values[0];
}

function readInteger(query: QueryText, name: string): number | undefined {
  const value = readSingle(query, name);
  return value === undefined ? undefined : integer(name, value);
}

function readBoolean(query: QueryText, name: string): boolean | undefined {
  const value = readSingle(query, name);
  if (value === undefined) return undefined;
  if (value !== "true" && value !== "false") throw badRequest(`${name} must be true or false`);
  return value === "true";
}

function integer(name: string, value: string): number {
  const number = Number(value);
  if (/^[0-9]+$/.test(value) && Number.isSafeInteger(number)) return number;
  throw badRequest(`${name} must be a whole number in plain digits`);
}

function unknownMember(name: string): ErrorDetail {
  return { pointer: `/${escapePointer(name)}`, message: "this operation takes no such member", code: "unknown-member" };
}

function memberFault(name: string, member: Member, body: JsonObject): readonly ErrorDetail[] {
  const pointer = `/${name}`;
  if (!Object.hasOwn(body, name)) {
    return member.required === true ? [{ pointer, message: "is required", code: "required" }] : [];
  }
  return hasForm(member.is, body[name]) ? [] : [{ pointer, message: `must be ${article(member.is)}`, code: "type" }];
}

function hasForm(form: Member["is"], value: Json | undefined): boolean {
  switch (form) {
    case "object":
      return isObject(value);
    case "list":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "string":
    case "boolean":
      return typeof value === form;
  }
}

function article(form: Member["is"]): string {
  return form === "object" || form === "integer" ? `an ${form}` : `a ${form}`;
}
