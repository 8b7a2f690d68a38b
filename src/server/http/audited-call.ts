import type { FastifyRequest } from "fastify";
import { ACTOR, PLAN, REVISION } from "../../contract/headers.ts";
import { isObject, type Json, text } from "../../contract/json.ts";
import { type OperationName, operation } from "../../contract/operations.ts";
import { toHttpError } from "../../http/http-error.ts";
import { redactCredentials } from "../../model/credential.ts";
import type { CallMarks, NewAuditRow } from "../audit/entry.ts";
import type { Principal } from "../auth/principal.ts";
import { storageHttpError } from "./storage-http-error.ts";

/** What the audit log tells of a request. */
export function callMarks({ id, ip, headers }: FastifyRequest, { credential }: Principal): CallMarks {
  const actor = actorIn(headers[ACTOR.toLowerCase()]);
  const revision = headers[REVISION.toLowerCase()];
  const plan = headers[PLAN.toLowerCase()];
  return {
    requestId: id,
    address: ip,
    ...(credential !== undefined && { token: credential.name }),
    ...(actor !== null && { actor }),
    ...(revision !== undefined && revisionIn(revision)),
    ...(plan !== undefined && planIn(String(plan))),
  };
}

/**
 * The row of a request whose reply is an error; null where the caller turned out to be nobody: anybody could fill the log
 * with those, which are counted instead.
 */
export function refusedCall(
  name: OperationName,
  request: FastifyRequest,
  principal: Principal,
  error: unknown,
): NewAuditRow | null {
  const { status, code } = storageHttpError(error) ?? toHttpError(error);
  if (status === 401) return null;
  const body = request.body as Json | undefined;
  return {
    principal: principal.name,
    operation: operation(name).number,
    resource: redactCredentials(askedFor(name, request.params, body).slice(0, MAX_LENGTH)),
    outcome: status < 500 ? "refused" : "failed",
    keyHash: null,
    fencingNumber: null,
    details: {
      ...callMarks(request, principal),
      name,
      status,
      code,
      ...(isDryRun(name, body) && { isDryRun: true as const }),
    },
  };
}

/** Whether a request asks only what its write would do. */
export function isDryRun(name: OperationName, body: Json | undefined): boolean {
  return operation(name).body?.dryRun !== undefined && isObject(body) && body.dryRun === true;
}

const MAX_LENGTH = 256;

// A header that is malformed says nothing, and does not keep a write from being made.
function actorIn(value: string | readonly string[] | undefined): string | null {
  if (typeof value !== "string" || value === "") return null;
  try {
    return decodeURIComponent(value).slice(0, MAX_LENGTH);
  } catch {
    return null;
  }
}

function revisionIn(value: string | readonly string[]): Pick<CallMarks, "commit" | "pass"> {
  const parts = String(value)
    .split(";")
    .map((part) => /^\s*(commit|pass)=([\w.:-]{1,128})\s*$/.exec(part));
  return Object.fromEntries(parts.flatMap((part) => (part === null ? [] : [[part[1], part[2]]])));
}

const MAX_APPROVERS = 100;

function planIn(value: string): Pick<CallMarks, "planner" | "approvers"> {
  const parts = value.split(";", MAX_APPROVERS + 1).map((part) => /^\s*(planner|approver)=(\S+)\s*$/.exec(part));
  const named = (name: string): readonly string[] =>
    parts.flatMap((part) => (part?.[1] === name ? (actorIn(part[2]) ?? []) : []));
  const [planner] = named("planner");
  const approvers = named("approver");
  return { ...(planner !== undefined && { planner }), ...(approvers.length > 0 && { approvers }) };
}

/** What a request names: the identity of its manifest, or its path. */
function askedFor(name: OperationName, params: unknown, body: Json | undefined): string {
  const members = isObject(body) ? body : {};
  const { manifest } = members;
  if (isObject(manifest) && typeof manifest.type === "string" && typeof manifest.name === "string") {
    const { type, name: own, workspace_fqn: workspace, cluster_fqn: cluster, ml_repo: repo, version } = manifest;
    const within = text(workspace) ?? text(repo);
    if (within === undefined && typeof cluster === "string") return `${type}/${cluster}:${own}`;
    const at = text(repo) !== undefined && typeof version === "number" ? `@${version}` : "";
    return `${type}/${within === undefined ? "" : `${within}/`}${own}${at}`;
  }
  const values = new Map(Object.entries(isObject(params) ? params : {}));
  const path = operation(name)
    .path.replace(/^\/api\/\w+\/v\d+\//, "")
    .replaceAll(/\{(\w+)\}/g, (_, parameter: string) => String(values.get(parameter) ?? ""));
  const { name: own, subject, email, id, revoke } = members;
  const named = text(own) ?? text(subject) ?? text(email) ?? text(id) ?? text(revoke);
  return named === undefined ? path : `${path}/${named}`;
}
