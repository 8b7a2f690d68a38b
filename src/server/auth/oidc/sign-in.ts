import type { Kysely, Transaction } from "kysely";
import { chunks, preparedQuery } from "../../../store/prepared-query.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import { type Authenticator, userPrincipal } from "../authenticate.ts";
import { isDisabled } from "../disabled-subjects.ts";
import { type Principal, systemPrincipal } from "../principal.ts";
import { newUser, type UserRow, userNamed, userNameOf } from "../users.ts";
import { type IssuedClaims, TokenRefusal } from "./claims.ts";

/** Who adds users at their first sign-in, as the audit names it. */
const issuerPrincipal = systemPrincipal("issuer");

/** Authenticates users by the tokens of the issuer; users appear at first sight. */
export const authenticateIssued: Authenticator = async (token, context) => {
  const { issuer } = context;
  if (issuer === null) return null;
  let claims: IssuedClaims | null = null;
  try {
    claims = await issuer.verify(token);
    return claims === null ? null : await signIn(claims, context);
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error;
    // The caller learns nothing but that the token is not valid.
    issuer.refused(error.message, claims);
    return null;
  }
};

type KnownUser = UserRow & { readonly hash: string | null; readonly not_before: number | null };

const byIdentity = preparedQuery(
  (database: Kysely<Tables>, { issuer, subject }: { readonly issuer: string; readonly subject: string }) =>
    database
      .selectFrom("users as u")
      .leftJoin("tokens as t", (join) =>
        join
          .onRef("t.user_id", "=", "u.id")
          .on(({ eb, val }) => eb("t.hash", "=", eb(val("issuer/"), "||", eb.ref("u.id")))),
      )
      .selectAll("u")
      .select(["t.hash", "t.not_before"])
      .where("u.issuer", "=", issuer)
      .where("u.issuer_subject", "=", subject),
);

async function signIn(claims: IssuedClaims, context: Context): Promise<Principal | null> {
  const { store } = context;
  const [known] = await byIdentity(store.read, claims);
  // Most requests: the newest token of a known user.
  const isUpToDate = known !== undefined && known.removed_at === null && Number(known.signed_in_at) >= claims.issuedAt;
  const user = isUpToDate ? known : await store.write((transaction) => record(transaction, claims, context));
  requireValid(user, claims);
  const credential = {
    root: credentialOf(user.id),
    name: `sign-in/${claims.issuer}`,
    endsAt: claims.expiresAt * 1000,
  };
  return userPrincipal(user.id, credential, context);
}

function credentialOf(userId: string): string {
  return `issuer/${userId}`;
}

function requireValid({ slug, hash, not_before }: KnownUser, { issuedAt }: IssuedClaims): void {
  if (hash === null) throw new TokenRefusal(`user:${slug} is disabled`);
  if (not_before !== null && issuedAt < Number(not_before)) {
    throw new TokenRefusal(`the tokens of user:${slug} that were issued before ${secondText(not_before)} were revoked`);
  }
}

/** Records a sign-in with a newer token than before, and at first sight the user. */
async function record(transaction: Transaction<Tables>, claims: IssuedClaims, context: Context): Promise<KnownUser> {
  const [known] = await byIdentity(transaction, claims);
  const user =
    known !== undefined && known.removed_at === null ? known : await firstSight(transaction, claims, known, context);
  requireValid(user, claims);
  if (Number(user.signed_in_at ?? -1) >= claims.issuedAt) return user;
  logChangedEmail(user, claims, context);
  const { issuedAt: signed_in_at } = claims;
  await transaction.updateTable("users").set({ signed_in_at }).where("id", "=", user.id).execute();
  await replaceGroups(transaction, user.slug, claims.groups);
  return { ...user, signed_in_at };
}

async function firstSight(
  transaction: Transaction<Tables>,
  claims: IssuedClaims,
  removed: KnownUser | undefined,
  context: Context,
): Promise<KnownUser> {
  const { issuer, subject: issuer_subject, email, displayName } = claims;
  const gone = removed === undefined ? "" : `user:${removed.slug} was removed`;
  if (email === null)
    throw new TokenRefusal(gone || "it has no e-mail that the issuer has verified (email, email_verified)");
  const slug = userNameOf(email);
  if (slug === null) throw new TokenRefusal(gone || "its e-mail is none, or in another Unicode form than NFKC");
  const name = `user:${slug}`;
  if (await isDisabled(transaction, name)) throw new TokenRefusal(`${name} is disabled`);
  const taken = await userNamed(transaction, slug);
  if (taken === null && removed !== undefined) throw new TokenRefusal(gone);
  if (taken !== null) requireUnbound(taken);
  if (removed !== undefined) {
    const free = { issuer: null, issuer_subject: null };
    await transaction.updateTable("users").set(free).where("id", "=", removed.id).execute();
  }
  const id = taken?.id ?? context.newId();
  const added = newUser(
    { id, slug, display_name: displayName ?? slug, sign_in: "issuer", issuer, issuer_subject },
    context,
  );
  const user = taken === null ? added : { ...taken, issuer, issuer_subject };
  if (taken === null) await transaction.insertInto("users").values(user).execute();
  else await transaction.updateTable("users").set({ issuer, issuer_subject }).where("id", "=", id).execute();
  const hash = credentialOf(id);
  const credential = { hash, user_id: id, name: "sign-in", created_at: timestamp(context), not_before: null };
  await transaction.insertInto("tokens").values(credential).execute();
  const resource = `user/${slug}`;
  await recordEffect(transaction, context, { principal: issuerPrincipal, operation: "putUser", resource });
  return { ...user, hash, not_before: null };
}

function requireUnbound({ slug, sign_in, issuer, issuer_subject, removed_at }: UserRow): void {
  const name = `user:${slug}`;
  if (removed_at !== null) throw new TokenRefusal(`${name} was removed`);
  if (sign_in !== "issuer") throw new TokenRefusal(`its e-mail is that of ${name}, who signs in by a token`);
  if (issuer !== null) throw new TokenRefusal(`its e-mail is that of ${name}, who is ${issuer_subject} of ${issuer}`);
}

// The subject identifies the user, whose name and roles stay.
function logChangedEmail({ slug }: UserRow, { subject, email }: IssuedClaims, { log }: Context): void {
  if (email === null || userNameOf(email) === slug) return;
  const fields = { event: "issuer-email-changed", user: `user:${slug}`, subject, email };
  log.info(fields, "the issuer names another e-mail than that of the user, who keeps its name");
}

/** Forgets which groups users are in. */
export async function forgetGroups({ store }: Context): Promise<void> {
  const known = await store.read.selectFrom("user_groups").select("name").limit(1).execute();
  if (known.length === 0) return;
  await store.write(async (transaction) => void (await transaction.deleteFrom("user_groups").execute()));
}

async function replaceGroups(
  transaction: Transaction<Tables>,
  member: string,
  groups: readonly string[],
): Promise<void> {
  const known = await transaction.selectFrom("user_groups").select("name").where("member", "=", member).execute();
  const before = new Set(known.map(({ name }) => name));
  if (before.size === groups.length && groups.every((name) => before.has(name))) return;
  await transaction.deleteFrom("user_groups").where("member", "=", member).execute();
  for (const part of chunks(groups)) {
    await transaction
      .insertInto("user_groups")
      .values(part.map((name) => ({ member, name })))
      .execute();
  }
}

function secondText(seconds: number): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
