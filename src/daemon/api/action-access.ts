import { createHmac } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { SessionReply } from "../../contract/generated/output.ts";
import type { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import { areEqualSecrets } from "../http/equal-secrets.ts";
import type { PageAccess } from "../http/page-access.ts";
import type { DashboardSource } from "./dashboard-source.ts";

/** Request header of an action: what the page has read from its own origin. */
const PAGE_TOKEN = "x-holdfast-page";

/** Who may act. */
export type ActionAccess = {
  /** What a request that may read may do beside that. */
  readonly session: (request: FastifyRequest) => SessionReply;
  /**
   * Refuses a request of another site, and one that may only read; returns the name of the person who has signed in, and
   * null where people give their names themselves.
   */
  readonly require: (request: FastifyRequest) => string | null;
};

/**
 * Decides who may act. Browsers send the token of the prompt, and the cookie of a session, with the requests of every site, so
 * an action needs the page's token too, which only a page of this origin can read. It is made of the other one, so that all
 * processes behind one address know it.
 */
export function createActionAccess(
  { token, signIn }: Pick<PageAccess, "token" | "signIn">,
  { access }: Pick<DashboardSource, "access">,
): ActionAccess {
  const sessionOf = (request: FastifyRequest): SessionReply => {
    const name = userNameIn(request);
    const refused = (why: string): SessionReply => ({ mayAct: false, why, pageToken: null, name, signedIn: false });
    const rule = access();
    if (rule === "oidc") {
      const person = signIn?.person(request) ?? null;
      if (person === null) return refused("only who signs in may act");
      const { name, mayAct, pageToken } = person;
      if (mayAct) return { mayAct, why: null, pageToken, name, signedIn: true };
      return {
        ...refused("you may only read: the operator's key dashboard.oidc.actors lets others act"),
        name,
        signedIn: true,
      };
    }
    if (rule !== "token")
      return refused("this dashboard only reads: the operator's key dashboard.access lets nobody act");
    const expected = token();
    if (expected === null) return refused("actions need a token: HOLDFAST_UI_TOKEN_FILE names its file");
    return { mayAct: true, why: null, pageToken: pageTokenOf(expected), name, signedIn: false };
  };
  return {
    session: sessionOf,
    require: (request) => {
      requireSameOrigin(request);
      const { why, pageToken, name, signedIn } = sessionOf(request);
      if (pageToken === null) throw new HttpError(403, "read-only", why ?? "this dashboard only reads");
      const given = request.headers[PAGE_TOKEN];
      if (typeof given !== "string" || !areEqualSecrets(given, pageToken))
        throw new HttpError(403, "page-token", "an action needs the page's token: /api/v1/session has it");
      return signedIn ? name : null;
    },
  };
}

/** Refuses a request of a page of another site. */
export function requireSameOrigin({ headers }: FastifyRequest): void {
  const { origin, host, "sec-fetch-site": site = "same-origin" } = headers;
  // A proxy may speak another scheme.
  const isOwn = origin === undefined || URL.parse(origin)?.host === host?.toLowerCase();
  if (isOwn && site === "same-origin") return;
  throw new HttpError(403, "cross-site", "a page of another site may not act here");
}

function pageTokenOf(token: Secret): string {
  return createHmac("sha256", token.open()).update("token of the dashboard's page").digest("base64url");
}

function userNameIn({ headers: { authorization = "" } }: FastifyRequest): string | null {
  const [, pair = ""] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  const name = Buffer.from(pair, "base64").toString().split(":")[0]?.trim() ?? "";
  return name === "" ? null : name;
}
