import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { PlanReply, PlanSent, PlansReply } from "../../contract/generated/output.ts";
import { isObject, type Json } from "../../contract/json.ts";
import { BODY_CAP } from "../../contract/limits.ts";
import type { Secret } from "../../contract/secret.ts";
import { readPlanDocuments } from "../../core/plan/read-plan-documents.ts";
import { badRequest, HttpError, notFound, tooManyRequests } from "../../http/http-error.ts";
import { parseJsonBody } from "../../http/json-body.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { queryText } from "../../http/server.ts";
import { KEPT_PLANS, type TargetStore } from "../../state/target-store.ts";
import { areEqualSecrets } from "../http/equal-secrets.ts";
import { type DashboardReaders, dashboardHeaders, requireHost, requireReader } from "./add-api.ts";
import { API, apiOperations, SEND_PLAN } from "./api-operations.ts";
import { parameterValues } from "./api-parameters.ts";
import type { DashboardPlans } from "./dashboard-source.ts";
import { planView, type SentPlan } from "./plan-view.ts";
import { stateUnavailable } from "./read-dashboard.ts";
import { parseRequestBody } from "./request-body.ts";

/** What plans are sent to. */
type PlanParts = DashboardReaders & {
  /** Where they are kept, and who may send them; null where there is no such place. */
  readonly plans: () => DashboardPlans | null;
  readonly now: () => number;
  /** Called when a plan was sent. */
  readonly onSent: () => void;
};

/** A job sends one plan, and a guess of the token is not repeated quickly. */
const MAX_PER_SECOND = 5;

/** A plan of 8 MiB has up to about as many, its keys included. */
const MAX_VALUES = 1_500_000;

/** Adds `POST /api/v1/plans`, which the token for plans alone permits, and what readers see of them. */
export function addPlans(app: FastifyInstance, { plans, now, onSent, ...readers }: PlanParts): void {
  const path = API + apiOperations.listPlans.path;
  const limit = createRateLimit(MAX_PER_SECOND, now);
  const kept = async <Result>(read: (store: TargetStore) => Promise<Result>, none: Result): Promise<Result> => {
    // In a database, a state that is only looked at would be one more to export.
    const exists = await plans()?.exists();
    if (exists === null) throw stateUnavailable();
    return exists === true ? stored(read) : none;
  };
  const stored = async <Result>(read: (store: TargetStore) => Promise<Result>): Promise<Result> => {
    const found = await plans()?.stored(async (store) => ({ read: await read(store) }));
    // Where nothing is kept, nothing was ever sent.
    if (found === undefined) throw notFound("the plan");
    if (found === null) throw stateUnavailable();
    return found.read;
  };
  const since = (): string => new Date(now() - KEPT_PLANS.ms).toISOString();
  app.get(path, async (request, reply) => {
    requireReader(request, readers);
    const { limit: most, after } = parameterValues(apiOperations.listPlans.parameters, queryText(request));
    const page = { limit: most, ...(after !== null && { after }) };
    const { entries, next } = await kept((store) => store.reviewedPlans(since(), page), { entries: [], next: null });
    return reply.headers(dashboardHeaders).send({ plans: entries, next } satisfies PlansReply);
  });
  app.get<{ Params: { plan: string } }>(`${path}/:plan`, async (request, reply) => {
    requireReader(request, readers);
    parameterValues(apiOperations.getPlan.parameters, queryText(request));
    const found: PlanReply | null = await kept((store) => store.reviewedPlan(request.params.plan, since()), null);
    if (found === null) throw notFound("the plan");
    return reply.headers(dashboardHeaders).send(found);
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "application/json",
      { parseAs: "buffer", bodyLimit: BODY_CAP },
      async (_: FastifyRequest, body: Buffer) => parseJsonBody(body, { maxValues: MAX_VALUES }),
    );
    // Before the body is read.
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      requireHost(request, readers.hosts());
      const isAllowed = requireSender(request, plans()?.token() ?? null);
      const wait = limit(isAllowed ? "allowed" : "refused");
      if (wait > 0) throw tooManyRequests(wait, "too many plans are sent at once");
      if (!isAllowed) throw wrongToken();
    };
    scope.post(API + SEND_PLAN.path, { onRequest }, async (request, reply) => {
      parameterValues({}, queryText(request));
      const sent = readSentPlan((request.body ?? null) as Json);
      const keys = (await plans()?.keys()) ?? [];
      const view = planView(sent, { id: idOf(sent), at: new Date(now()).toISOString(), keys });
      const { id, verified } = view.plan;
      const replaced = await stored((store) => store.keepReviewedPlan(view));
      onSent();
      const answer: PlanSent = { id, path: `/reviews/${id}`, replaced, verified };
      return reply
        .code(replaced ? 200 : 201)
        .headers(dashboardHeaders)
        .send(answer);
    });
  });
}

/** Whether a request has the token for plans; fails where there is none. */
function requireSender({ headers }: FastifyRequest, token: Secret | null): boolean {
  if (token === null) {
    throw new HttpError(
      403,
      "plans-not-taken",
      "this daemon takes no plans: the key dashboard.plansTokenFile names the file of the token for them",
    );
  }
  const [, given = ""] = /^bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
  return areEqualSecrets(given, token.open());
}

function wrongToken(): HttpError {
  const headers = { "www-authenticate": 'Bearer realm="plans"' };
  return new HttpError(401, "unauthenticated", "the token for plans is missing or wrong", { headers });
}

// The address is no part of it: a forge may have several names.
function idOf({ forge, repository, pullRequest, commit, name }: SentPlan): string {
  const about = JSON.stringify([forge, repository, pullRequest, commit, name]);
  return createHash("sha256").update(about).digest("hex").slice(0, 32);
}

function readSentPlan(body: Json): SentPlan {
  // How large a plan may be is bounded above; the limits of the schemas are those of manifests.
  const given = parseRequestBody(
    "planToSend",
    isObject(body) && Object.hasOwn(body, "plan") ? { ...body, plan: null } : body,
  );
  const { forge, repository, pullRequest, url = null, commit, name, unverified } = given;
  if (url !== null && !isWebAddress(url)) throw badRequest("url must be an address with http or https, or null");
  const documents = readPlanDocuments(isObject(body) ? (body.plan ?? null) : null);
  if (documents === null) throw badRequest("plan must be what plan -o json of this release wrote");
  if (documents.some(({ is }) => is === "drift")) throw badRequest("a drift report belongs to no pull request");
  return { forge, repository, pullRequest, url, commit, name, isUnverified: unverified, documents };
}

// It becomes a link.
function isWebAddress(text: string): boolean {
  const address = URL.parse(text);
  return (address?.protocol === "https:" || address?.protocol === "http:") && address.username === "";
}
