// src/dashboard/reference: what runs in the reference page of the control plane. See docs/control-plane.md#the-interface.

import { isObject, type Json } from "../../contract/json.ts";

/** A parameter of a call, as its field shows it. */
export type TriedParameter = {
  readonly name: string;
  readonly place: string;
  readonly isRequired: boolean;
  readonly isList: boolean;
  readonly example: string;
};

/** The call of an operation. */
export type TriedCall = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly TriedParameter[];
  /** The example body; as a dry run, where the operation has one. */
  readonly body: Json | undefined;
  readonly isWrite: boolean;
};

/** A call as it is sent, or why it cannot be. */
type Sendable = RequestInit & { readonly url: string };

let document_: Promise<Json> | null = null;

/** The call of an operation by the document of this server. */
export async function readCall(operationId: string): Promise<TriedCall> {
  document_ ??= readDocument();
  const document = await document_.catch((error: unknown) => {
    document_ = null;
    throw error;
  });
  for (const [path, item] of Object.entries(objectIn(document, "paths"))) {
    for (const [method, operation] of Object.entries(objectIn(item)))
      if (objectIn(operation).operationId === operationId) return callOf(document, method, path, objectIn(operation));
  }
  throw new Error(`${operationId} is not in it`);
}

async function readDocument(): Promise<Json> {
  const reply = await fetch(new URL("openapi.json", location.href), { credentials: "omit" });
  if (!reply.ok) throw new Error(`${reply.status}`);
  return reply.json();
}

type JsonObject = { readonly [key: string]: Json };

function callOf(document: Json, method: string, path: string, operation: JsonObject): TriedCall {
  const listed = Array.isArray(operation.parameters) ? operation.parameters : [];
  const content = objectIn(operation, "requestBody", "content", "application/json");
  const hasDryRun = Object.hasOwn(objectIn(content, "schema", "properties"), "dryRun");
  const { example } = content;
  return {
    method: method.toUpperCase(),
    path,
    parameters: listed.map((one: Json) => parameterOf(objectIn(resolved(document, objectIn(one))))),
    body: hasDryRun && isObject(example) ? { ...example, dryRun: true } : example,
    isWrite: operation["x-retry"] !== "read",
  };
}

function resolved(document: Json, one: JsonObject): Json {
  return typeof one.$ref === "string" ? objectIn(document, ...one.$ref.split("/").slice(1)) : one;
}

function parameterOf({ name, in: place, required, schema, example }: JsonObject): TriedParameter {
  return {
    name: String(name),
    place: String(place),
    isRequired: required === true,
    isList: objectIn(schema ?? null).type === "array",
    example: typeof example === "string" ? example : "",
  };
}

function objectIn(value: Json, ...path: readonly string[]): JsonObject {
  const found = path.reduce<Json>((at, name) => (isObject(at) ? (at[name] ?? null) : null), value);
  return isObject(found) ? found : {};
}

/** A call as it is sent with these values to the server of this page, and to no other; or why it cannot be sent. */
export function requestOf(
  { method, path, parameters }: TriedCall,
  values: { readonly [name: string]: string },
  body: string | null,
  token: string,
): Sendable | string {
  const given = parameters.map((parameter) => ({ ...parameter, value: values[parameter.name] ?? "" }));
  for (const { name, place, value } of given) {
    if (place === "path" && value === "") return `${name}: is required → give it`;
    // A browser would take it for a step in the path.
    if (place === "path" && /^\.\.?$/.test(value)) return `${name}: "${value}" cannot be sent in a path`;
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  // Relative, since a proxy may add a path prefix.
  const url = new URL(`.${filled}`, location.href);
  for (const { name, isList, value } of given.filter(({ place, value }) => place === "query" && value !== ""))
    for (const one of isList ? value.split(",") : [value]) url.searchParams.append(name, one.trim());
  const headers = new Headers();
  try {
    if (token !== "") headers.set("authorization", `Bearer ${token}`);
  } catch {
    return "Token: it has characters that no token has → copy it again";
  }
  try {
    for (const { name, value } of given.filter(({ place, value }) => place === "header" && value !== ""))
      headers.set(name, value);
    if (body !== null) headers.set("content-type", "application/json");
    if (body !== null) JSON.parse(body);
  } catch (error) {
    return error instanceof SyntaxError
      ? `Body: it is not JSON → ${error.message}`
      : "A header has characters that none may have";
  }
  // No cookie and no redirect: the token goes to this server alone.
  const limits = { credentials: "omit", redirect: "error", cache: "no-store", referrerPolicy: "no-referrer" } as const;
  return { url: url.href, method, headers, body, ...limits };
}
