import {
  ACTOR,
  FENCING_SCOPE,
  FENCING_TOKEN,
  IDEMPOTENCY_KEY,
  NOT_STORED,
  PLAN,
  REVISION,
} from "../contract/headers.ts";
import type { JsonObject } from "../contract/json.ts";
import { fillPath, type Operation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Request } from "./exchange.ts";

/** Values of a path's parameters. */
export type PathParameters = { readonly [name: string]: string };

/** Query parameters; a list is sent as one parameter per item. */
export type Query = { readonly [name: string]: string | number | boolean | readonly (string | number)[] | undefined };

/** The content of a call: everything except the operation. */
export type CallContent = {
  readonly path?: PathParameters;
  readonly query?: Query;
  readonly body?: JsonObject;
  readonly idempotencyKey?: string;
  /** The fencing token of the writer's lease, and the scope of the lease. */
  readonly fence?: { readonly token: number; readonly scope?: string };
};

/** What a write belongs to, for the audit log of the control plane: a commit, null where it is of none, and a pass. */
export type WriteRevision = { readonly commit: string | null; readonly pass: string; readonly plan?: WritePlan };

/** Who made the plan that a write belongs to, null where nobody knows, and who has approved it. */
export type WritePlan = { readonly planner: string | null; readonly approvers: readonly string[] };

/** Converts a call into an HTTP request. */
export function composeRequest(
  operation: Operation,
  content: CallContent,
  {
    origin,
    base,
    token,
    userAgent,
    actor,
    traceparent,
    revision,
  }: {
    readonly origin: string;
    readonly base: string;
    readonly token: Secret;
    readonly userAgent: string;
    readonly actor: () => string | null;
    readonly traceparent?: string | undefined;
    readonly revision: () => WriteRevision | null;
  },
): Request {
  const { body } = content;
  const person = operation.retry === "read" ? null : actor();
  const of = operation.retry === "read" ? null : revision();
  return {
    origin,
    method: operation.method,
    path: `${base}${composePath(operation.path, content.path ?? {})}${composeQuery(content.query ?? {})}`,
    headers: {
      authorization: `Bearer ${token.open()}`,
      accept: "application/json",
      "user-agent": userAgent,
      // The reply of a token operation is sealed before it is decoded, so it must not be compressed.
      "accept-encoding": operation.retry === "token" ? "identity" : "gzip",
      ...(operation.retry === "read" ? {} : NOT_STORED),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(content.idempotencyKey === undefined ? {} : { [IDEMPOTENCY_KEY]: content.idempotencyKey }),
      ...(person === null ? {} : { [ACTOR]: encodeURIComponent(person) }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(of === null ? {} : { [REVISION]: revisionText(of) }),
      ...(of?.plan === undefined ? {} : { [PLAN]: planText(of.plan) }),
      ...fenceHeaders(content.fence),
    },
    body: body === undefined ? null : JSON.stringify(body),
  };
}

function revisionText({ commit, pass }: WriteRevision): string {
  return commit === null ? `pass=${pass}` : `commit=${commit}; pass=${pass}`;
}

function planText({ planner, approvers }: WritePlan): string {
  const made = planner === null ? [] : [`planner=${encodeURIComponent(planner.toWellFormed())}`];
  return [...made, ...approvers.map((name) => `approver=${encodeURIComponent(name.toWellFormed())}`)].join("; ");
}

function composePath(path: string, parameters: PathParameters): string {
  for (const [name, value] of Object.entries(parameters)) {
    // Percent-encoding does not encode dots, and a proxy may resolve dot segments to another resource.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`this value of ${name} is not valid in path ${path}`);
  }
  return fillPath(path, parameters);
}

function composeQuery(query: Query): string {
  const parameters = Object.entries(query).flatMap(([name, value = []]) =>
    [value].flat().map((item) => `${name}=${encodeURIComponent(String(item).toWellFormed())}`),
  );
  return parameters.length === 0 ? "" : `?${parameters.join("&")}`;
}

function fenceHeaders(fence: CallContent["fence"]): Record<string, string> {
  if (fence === undefined) return {};
  const scope = fence.scope === undefined ? {} : { [FENCING_SCOPE]: fence.scope };
  return { [FENCING_TOKEN]: String(fence.token), ...scope };
}
