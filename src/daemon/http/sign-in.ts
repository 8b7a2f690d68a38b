import { createHmac } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import { tooManyRequests } from "../../http/http-error.ts";
import { IssuerError } from "../../http/issuer-error.ts";
import type { Issuer } from "../../http/oidc-issuer.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import type { Log } from "../../log/log.ts";
import { globMatcher } from "../../model/glob.ts";
import { replaceUnprintable } from "../../model/unprintable.ts";
import { requireSameOrigin } from "../api/action-access.ts";
import { dashboardHeaders, requireHost } from "../api/add-api.ts";
import type { SignInSettings } from "../api/dashboard-source.ts";
import { areEqualSecrets } from "./equal-secrets.ts";
import { SIGN_IN, type SignedIn, type SignIn } from "./page-access.ts";

const SESSION = "holdfast_session";
const ATTEMPT = "holdfast_sign_in";
const SESSION_MS = 8 * 3_600_000;
const ATTEMPT_MS = 10 * 60_000;
const DISCOVERED_MS = 3_600_000;
const MOST_ENDED = 10_000;
const MAX_PER_SECOND = 10;

/** What a session says of a person: nothing but what the settings ask for. */
type Session = {
  readonly id: string;
  readonly subject: string;
  readonly email: string | null;
  readonly groups: readonly string[];
};

type Attempt = { readonly state: string; readonly nonce: string; readonly verifier: string; readonly to: string };

type SignInParts = {
  /** Null while people do not sign in. */
  readonly settings: () => SignInSettings | null;
  readonly hosts: () => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
};

/**
 * Creates the sign-in of a dashboard. A session is in the cookie itself, under a signature that is made with the client's
 * secret, so that all processes behind one address know it. Who may do what is judged anew for each request.
 */
export function createSignIn({ settings, clock }: Pick<SignInParts, "settings" | "clock">): SignIn & {
  readonly start: (session: Session) => string;
  readonly end: (session: SignedIn) => void;
} {
  const ended = new Map<string, number>();
  return {
    isOn: () => settings() !== null,
    person: (request) => {
      const now = settings();
      const secret = now?.clientSecret() ?? null;
      if (now === null || secret === null) return null;
      const session = opened(cookieIn(request, SESSION), { secret, now: clock.now(), use: SESSION });
      return session === null || ended.has(String(session.id)) ? null : personOf(session, now, secret);
    },
    start: (session) => {
      const secret = settings()?.clientSecret() ?? null;
      if (secret === null) throw new TypeError("a session was started without a sign-in");
      return signed(session, { secret, until: clock.now() + SESSION_MS, use: SESSION });
    },
    end: ({ id }) => {
      for (const [old, until] of ended) if (until < clock.now() || ended.size >= MOST_ENDED) ended.delete(old);
      ended.set(id, clock.now() + SESSION_MS);
    },
  };
}

/** Adds the addresses of the sign-in to the server of a dashboard. */
export function addSignIn(app: FastifyInstance, signIn: ReturnType<typeof createSignIn>, parts: SignInParts): void {
  const { settings, hosts, clock, random, log } = parts;
  let known: { readonly key: string; readonly until: number; readonly issuer: Promise<Issuer> } | null = null;

  const issuerOf = (now: SignInSettings, clientSecret: Secret): Promise<Issuer> => {
    const key = `${now.issuer} ${now.clientId} ${now.ca} ${signatureOf(clientSecret, "issuer")}`;
    if (known?.key === key && clock.monotonic() < known.until) return known.issuer;
    const issuer = import("../../http/oidc-issuer.ts").then(({ discoverIssuer }) =>
      discoverIssuer({ ...now, clientSecret, timeoutSeconds: 15 }),
    );
    known = { key, until: clock.monotonic() + DISCOVERED_MS, issuer };
    // One that did not answer is asked again.
    issuer.catch(() => {
      if (known?.issuer === issuer) known = null;
    });
    return issuer;
  };

  const failed = (reply: FastifyReply, error: unknown): FastifyReply => {
    if (!(error instanceof IssuerError)) throw error;
    log.warn({ event: "sign-in-failed", reason: error.message }, "a sign-in to the dashboard failed");
    return page(reply, 502, "The sign-in failed", "The log of the daemon says why.");
  };

  // Anybody can ask for these, and each may ask the issuer.
  const limit = createRateLimit(MAX_PER_SECOND, clock.now);
  const requireTurn = (): void => {
    const wait = limit("sign-in");
    if (wait > 0) throw tooManyRequests(wait, "too many sign-ins");
  };

  app.get(SIGN_IN, async (request, reply) => {
    requireHost(request, hosts());
    requireTurn();
    const now = settings();
    const secret = now?.clientSecret() ?? null;
    if (now === null) return reply.callNotFound();
    if (secret === null) return page(reply, 503, "Nobody can sign in", "The file of the client's secret has none.");
    try {
      const oidc = await import("../../http/oidc-issuer.ts");
      const issuer = await issuerOf(now, secret);
      const attempt: Attempt = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
        to: pathIn(request),
      };
      const at = oidc.buildAuthorizationUrl(issuer, {
        redirect_uri: callbackOf(now),
        scope: oidc.usualScopes(issuer, ["openid", "email", "profile", "groups"]),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: "S256",
      });
      const value = signed(attempt, { secret, until: clock.now() + ATTEMPT_MS, use: ATTEMPT });
      setCookie(reply, now, { name: ATTEMPT, value, ms: ATTEMPT_MS, path: "/auth" });
      return reply.header("cache-control", "no-store").redirect(at.href);
    } catch (error) {
      return failed(reply, error);
    }
  });

  app.get("/auth/callback", async (request, reply) => {
    requireHost(request, hosts());
    requireTurn();
    const now = settings();
    const secret = now?.clientSecret() ?? null;
    if (now === null || secret === null) return reply.callNotFound();
    const attempt = opened(cookieIn(request, ATTEMPT), { secret, now: clock.now(), use: ATTEMPT });
    setCookie(reply, now, { name: ATTEMPT, value: "", ms: 0, path: "/auth" });
    if (attempt === null)
      return page(reply, 400, "The sign-in took too long", "It was begun elsewhere, or has expired.");
    try {
      const { asIssuerError, authorizationCodeGrant } = await import("../../http/oidc-issuer.ts");
      const issuer = await issuerOf(now, secret);
      const url = new URL(request.url, now.url);
      const tokens = await asIssuerError(() =>
        authorizationCodeGrant(issuer, url, {
          expectedState: String(attempt.state),
          expectedNonce: String(attempt.nonce),
          pkceCodeVerifier: String(attempt.verifier),
          idTokenExpected: true,
        }),
      );
      const session = sessionOf(tokens.claims() ?? {}, now, random.id());
      const person = personOf(session, now, secret);
      const name = shownName(session);
      if (person === null) {
        log.warn({ event: "sign-in-refused", subject: session.subject, email: session.email }, "not among the readers");
        return page(reply, 403, "You may not read this dashboard", `You are ${name}. Whoever runs it can let you.`);
      }
      log.info({ event: "signed-in", subject: session.subject, email: session.email }, "signed in to the dashboard");
      setCookie(reply, now, { name: SESSION, value: signIn.start(session), ms: SESSION_MS, path: "/" });
      return reply.header("cache-control", "no-store").redirect(String(attempt.to));
    } catch (error) {
      return failed(reply, error);
    }
  });

  app.post("/auth/logout", async (request, reply) => {
    requireHost(request, hosts());
    requireSameOrigin(request);
    const now = settings();
    if (now === null) return reply.callNotFound();
    const person = signIn.person(request);
    if (person !== null) signIn.end(person);
    setCookie(reply, now, { name: SESSION, value: "", ms: 0, path: "/" });
    return reply.headers(dashboardHeaders).code(204).send();
  });

  app.get("/auth/signed-out", async (request, reply) => {
    requireHost(request, hosts());
    return settings() === null ? reply.callNotFound() : page(reply, 200, "You are signed out", "");
  });
}

function callbackOf({ url }: SignInSettings): string {
  return new URL("/auth/callback", url).href;
}

// Only a path of this server, so that nobody is led to another one.
function pathIn({ url }: FastifyRequest): string {
  const to = new URL(url, "http://localhost").searchParams.get("to") ?? "/";
  const target = URL.parse(to, "http://localhost");
  const isOwn = target?.origin === "http://localhost" && /^\/(?![/\\])/.test(target.pathname);
  return isOwn ? target.pathname + target.search : "/";
}

type Claims = { readonly sub?: string; readonly [claim: string]: unknown };

function sessionOf(claims: Claims, { groupsClaim, readers, actors }: SignInSettings, id: string): Session {
  const { sub = "", email, email_verified: isVerified } = claims;
  const groups = [claims[groupsClaim] ?? []].flat().filter((group) => typeof group === "string");
  const named = new Set([...readers, ...actors]);
  return {
    ...{ id, subject: sub },
    email: typeof email === "string" && isVerified === true ? email.normalize("NFC").toLowerCase() : null,
    groups: groups.filter((group) => named.has(`group:${group}`)),
  };
}

/** The person of a session; null where it may not read. */
function personOf(
  claims: { readonly [name: string]: unknown },
  settings: SignInSettings,
  secret: Secret,
): SignedIn | null {
  const { id, subject, email, groups } = claims;
  if (typeof id !== "string" || typeof subject !== "string" || subject === "" || !Array.isArray(groups)) return null;
  const session: Session = { id, subject, email: typeof email === "string" ? email : null, groups: groups.map(String) };
  const mayAct = isAmong(settings.actors, session);
  if (!mayAct && !isAmong(settings.readers, session)) return null;
  return { id, name: shownName(session), mayAct, pageToken: signatureOf(secret, `page of ${id}`) };
}

function isAmong(named: readonly string[], { email, groups }: Session): boolean {
  return named.some((one) => {
    if (one.startsWith("group:")) return groups.includes(one.slice("group:".length));
    return email !== null && globMatcher(one.normalize("NFC").toLowerCase())(email);
  });
}

function shownName({ email, subject }: Session): string {
  return replaceUnprintable(email ?? subject).slice(0, 100);
}

type Signing = { readonly secret: Secret; readonly until: number; readonly use: string };

function signed(value: object, { secret, until, use }: Signing): string {
  const text = Buffer.from(JSON.stringify({ ...value, until })).toString("base64url");
  return `${text}.${signatureOf(secret, `${use} ${text}`)}`;
}

/** What a cookie says, if it was signed here for this use, and has not expired. */
function opened(
  cookie: string,
  { secret, now, use }: Omit<Signing, "until"> & { readonly now: number },
): { readonly [name: string]: unknown } | null {
  const [text = "", signature = ""] = cookie.split(".");
  if (!areEqualSecrets(signature, signatureOf(secret, `${use} ${text}`))) return null;
  const value = parseJsonOrNull(Buffer.from(text, "base64url").toString());
  return isObject(value) && typeof value.until === "number" && value.until > now ? value : null;
}

function signatureOf(secret: Secret, of: string): string {
  return createHmac("sha256", secret.open()).update(`holdfast dashboard ${of}`).digest("base64url");
}

function cookieIn({ headers: { cookie = "" } }: FastifyRequest, name: string): string {
  const pairs = cookie.split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

type Cookie = { readonly name: string; readonly value: string; readonly ms: number; readonly path: string };

// Lax, since the issuer's redirect comes from another site; actions need the page's token beside it.
function setCookie(reply: FastifyReply, { url }: SignInSettings, { name, value, ms, path }: Cookie): void {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  const age = `Max-Age=${Math.floor(ms / 1000)}`;
  const cookie = `${name}=${value}; Path=${path}; ${age}; HttpOnly; SameSite=Lax${secure}`;
  const before = reply.getHeader("set-cookie");
  reply.header("set-cookie", before === undefined ? cookie : [before, cookie].flat().map(String));
}

function page(reply: FastifyReply, status: number, title: string, text: string): FastifyReply {
  const escaped = (words: string): string => words.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const body = `<h1>${escaped(title)}</h1><p>${escaped(text)}</p><p><a href="${SIGN_IN}">Sign in</a></p>`;
  return reply
    .code(status)
    .headers({ ...dashboardHeaders, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Holdfast</title><main>${body}</main></html>`);
}
