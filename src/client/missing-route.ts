import type { Random } from "../clock/random.ts";
import { isObject, type Json, parseJsonOrNull, text } from "../contract/json.ts";
import {
  fillPath,
  isDocumented,
  type Operation,
  type OperationName,
  operation,
  operations,
} from "../contract/operations.ts";
import type { RawReply } from "./call-outcome.ts";
import type { CallContent } from "./compose-request.ts";
import { readEnvelopePage } from "./read-envelope.ts";

/** The answer to one request of a check; null if no complete answer arrived. */
export type Probed = { readonly reply: RawReply; readonly value: Json | undefined } | null;

/** Sends one request without retries; the path need not be documented. */
export type SendProbe = (row: Operation, content: CallContent) => Promise<Probed>;

type Probing = { readonly probe: SendProbe; readonly random: Random };

const OWN_CODES: ReadonlySet<string | undefined> = new Set([
  "route-not-found",
  "method-not-allowed",
  "not-implemented",
]);

/** Whether the control plane itself reports the route as missing, by a documented error that names the route. */
export function saysRouteIsMissing({ status, body }: RawReply, { method, path }: Operation): boolean {
  const error = parseJsonOrNull(body);
  if (!isObject(error) || (error.statusCode ?? status) !== status) return false;
  if (OWN_CODES.has(text(error.code))) return true;
  const message = text(error.message) ?? "";
  const isNamed = [`Cannot ${method} `, `Route ${method}:`].some((words) => message.startsWith(words));
  return error.statusCode === status && isNamed && message.includes(path.replace(/\/\{.*/, ""));
}

/**
 * Whether a control plane lacks a route, where the answer alone does not prove it because a gateway may have sent it.
 * The route must give the same answer again, routes that certainly do not exist must give it too, and documented routes
 * of the same family must answer properly both before and after.
 */
export async function isRouteMissing(
  name: OperationName,
  { content, reply }: { readonly content: CallContent; readonly reply: RawReply },
  probing: Probing,
): Promise<boolean> {
  const { probe } = probing;
  const row = operation(name);
  const seen: Seen = { path: fillPath(row.path, content.path ?? {}), reply };
  if (!(await answersProperly(row, seen, probe))) return false;
  if (!(await isAnsweredLikeAbsent(row, content, seen, probing))) return false;
  return answersProperly(row, seen, probe);
}

type Seen = { readonly path: string; readonly reply: RawReply };

/** The content of a write that only checks for its route: every server refuses a write without a manifest. */
export const NO_MANIFEST: CallContent = { body: { dryRun: true } };

/**
 * Whether requests reach the control plane: a documented list can be read, and a documented write is refused with
 * another answer than the route.
 */
async function answersProperly({ method, path }: Operation, seen: Seen, probe: SendProbe): Promise<boolean> {
  const [list, put] = path.startsWith("/api/ml/")
    ? (["listMlRepos", "putPromptVersion"] as const)
    : (["listWorkspaces", "putTeam"] as const);
  const page = await probe(operation(list), { query: { limit: 1 } });
  if (page === null || page.reply.status !== 200 || readEnvelopePage(list, page.value ?? null) === undefined)
    return false;
  if (method === "GET") return true;
  const refused = await probe(operation(put), NO_MANIFEST);
  return (
    refused !== null && isRefusal(refused.reply) && !isAlike(seen, { path: operation(put).path, reply: refused.reply })
  );
}

function isRefusal({ status }: RawReply): boolean {
  return status >= 400 && status < 500 && ![401, 404, 405, 408, 429].includes(status);
}

const ABSENT_ROUTES = 2;

async function isAnsweredLikeAbsent(
  row: Operation,
  content: CallContent,
  seen: Seen,
  { probe, random }: Probing,
): Promise<boolean> {
  const query = content.query === undefined ? {} : { query: content.query };
  const isSameAt = async (path: string): Promise<boolean> => {
    const answered = await probe({ ...row, path }, row.method === "GET" ? query : NO_MANIFEST);
    return answered !== null && isAlike(seen, { path, reply: answered.reply });
  };
  if (!(await isSameAt(seen.path))) return false;
  let alike = 0;
  for (const path of absentPaths(row, seen, random)) {
    if (await isSameAt(path)) alike += 1;
    if (alike === ABSENT_ROUTES) return true;
  }
  return false;
}

// A 405 means that the path exists, so it is compared with documented paths that do not allow the method. Every other
// status is compared with paths that do not exist on any server.
function absentPaths({ method, path }: Operation, { path: filled, reply }: Seen, random: Random): readonly string[] {
  const unusedName = (): string => `holdfast-${random.id()}`;
  const [, family = "", rest = ""] = /^(\/api\/\w+\/v1\/)[^/]+(.*)$/.exec(filled) ?? [];
  if (reply.status !== 405) return [unusedName(), unusedName()].map((name) => family + name + rest);
  const documented = Object.values<Operation>(operations).filter(isDocumented);
  const allowsMethod = (other: string): boolean =>
    documented.some((row) => row.path === other && (row.method === method || row.retry === "token"));
  const others = new Set(documented.map((row) => row.path)).difference(new Set([path]));
  return [...others].filter((other) => !allowsMethod(other)).map((other) => other.replace(/\{\w+\}/g, unusedName));
}

/** Whether two answers are equal except for the path that each repeats, and for times and request ids. */
function isAlike(one: Seen, other: Seen): boolean {
  const [a, b] = [one.reply, other.reply];
  return a.status === b.status && a.type === b.type && withoutPath(one) === withoutPath(other);
}

function withoutPath({ path, reply: { body } }: Seen): string {
  const forms = [path, decodeURIComponent(path)].flatMap((form) => [
    form,
    form.replaceAll("/", "\\/"),
    form.replaceAll("/", "&#x2F;"),
    encodeURIComponent(form),
  ]);
  const without = forms.reduce((text, form) => text.replaceAll(form, "{path}"), body);
  // Replaces times and request ids.
  return without.replace(/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b|\b[\da-f]{16,}\b|\d+/gi, "#");
}
