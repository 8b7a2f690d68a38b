import { hash } from "node:crypto";
import type { Kysely } from "kysely";
import { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { rolesOf } from "./grants.ts";
import type { CallerCredential, Principal } from "./principal.ts";

const AUTHORIZATION = "authorization";

/** Finds the principal of a token; null when the token is of another kind, or invalid. */
export type Authenticator = (token: Secret, context: Context) => Promise<Principal | null>;

/** The Authorization header, from the raw headers (name and value in turn); 401 when there is none or more than one. */
export function authorizationHeader(rawHeaders: readonly string[]): string {
  let found: string | null = null;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue;
    // Node drops a second header, but a proxy in front of this server may have checked that one instead.
    if (found !== null) throw unauthorised("there are two Authorization headers");
    found = rawHeaders[at + 1] ?? "";
  }
  if (found === null || found === "") throw unauthorised("there is no Authorization header");
  return found;
}

/** The bearer token of an Authorization header; else 401. */
export function bearerToken(header: string): Secret {
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  if (token === undefined || !isBearerToken(token))
    throw unauthorised("the Authorization header is not of the form `Bearer <token>`");
  return new Secret(token);
}

/** Whether a text can be sent as a bearer token (RFC 6750). */
export function isBearerToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/-]+=*$/.test(text);
}

/** Tries each authenticator; 401 when none accepts the token. */
export async function authenticate(
  authenticators: readonly Authenticator[],
  token: Secret,
  context: Context,
): Promise<Principal> {
  for (const authenticator of authenticators) {
    const principal = await authenticator(token, context);
    if (principal !== null) return principal;
  }
  throw unauthorised("the token is not valid");
}

const userToken = preparedQuery((database: Kysely<Tables>, { hash: wanted }: { readonly hash: string }) =>
  database.selectFrom("tokens").select(["user_id", "hash", "name"]).where("hash", "=", wanted),
);

const userById = preparedQuery((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("users").selectAll().where("id", "=", id),
);

/** Authenticates users by their opaque tokens. */
export const authenticateUser: Authenticator = async (token, context) => {
  const [row] = await userToken(context.store.read, { hash: tokenHash(token) });
  if (row === undefined) return null;
  return userPrincipal(row.user_id, { root: row.hash, name: `user-token/${row.name}` }, context);
};

/** The principal of a user id, with its roles; null when the user does not exist. */
export async function userPrincipal(
  userId: string,
  credential: CallerCredential,
  { store, issuer }: Context,
): Promise<Principal | null> {
  const [user] = await userById(store.read, { id: userId });
  if (user === undefined || user.removed_at !== null) return null;
  // Nobody vouches for this user any more.
  if (user.issuer !== null && user.issuer !== issuer?.issuer) return null;
  const { id, slug, display_name: subjectDisplayName } = user;
  const name = `user:${slug}`;
  const subject = { subjectId: id, subjectType: "user", subjectSlug: slug, subjectDisplayName };
  return { name, subject, roles: await rolesOf(store.read, name, slug), credential };
}

/** The hash of a token, which is stored in place of the token. */
export function tokenHash(token: Secret): string {
  return hash("sha256", token.open());
}

function unauthorised(message: string): HttpError {
  return new HttpError(401, "unauthorized", message, { headers: { "www-authenticate": 'Bearer realm="holdfast"' } });
}
