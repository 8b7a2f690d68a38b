import { hash } from "node:crypto";
import { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import type { Context } from "../context.ts";
import { rolesOf } from "./grants.ts";
import type { CallerCredential, Principal } from "./principal.ts";

const AUTHORIZATION = "authorization";

/** Finds whom a token stands for; null when it is not of its kind, or not valid. */
export type Authenticator = (token: Secret, context: Context) => Promise<Principal | null>;

/** The Authorization header of a request, from its headers as they arrived, name and value in turn; else 401. */
export function authorizationHeader(rawHeaders: readonly string[]): string {
  let found: string | null = null;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue;
    // Node joins equal headers and so hides a second one, which some proxy before us may have read instead.
    if (found !== null) throw unauthorised("there are two Authorization headers");
    found = rawHeaders[at + 1] ?? "";
  }
  if (found === null || found === "") throw unauthorised("there is no Authorization header");
  return found;
}

/** The bearer token in an Authorization header; else 401. */
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

/** Asks each authenticator in turn; 401 when none knows the token. */
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

/** Knows the opaque tokens of users. */
export const authenticateUser: Authenticator = async (token, context) => {
  const row = await context.store.read
    .selectFrom("tokens")
    .select(["user_id", "hash", "name"])
    .where("hash", "=", tokenHash(token))
    .executeTakeFirst();
  if (row === undefined) return null;
  return userPrincipal(row.user_id, { root: row.hash, name: `user-token/${row.name}` }, context);
};

/** The user of that id, with its roles; null when there is none. */
export async function userPrincipal(
  userId: string,
  credential: CallerCredential,
  { store }: Pick<Context, "store">,
): Promise<Principal | null> {
  const user = await store.read.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
  if (user === undefined) return null;
  const { id, slug, display_name: subjectDisplayName } = user;
  const name = `user:${slug}`;
  const subject = { subjectId: id, subjectType: "user", subjectSlug: slug, subjectDisplayName };
  return { name, subject, roles: await rolesOf(store.read, name, slug), credential };
}

/** What is kept of a token: enough to know it again, of no use to whoever reads it. */
export function tokenHash(token: Secret): string {
  return hash("sha256", token.open());
}

function unauthorised(message: string): HttpError {
  return new HttpError(401, "unauthorized", message, { headers: { "www-authenticate": 'Bearer realm="holdfast"' } });
}
