import type { Transaction } from "kysely";
import type { ErrorDetail, User } from "../../contract/generated/resources.ts";
import { conflict, forbidden, malformed, notFound } from "../../http/http-error.ts";
import { subjectName } from "../../model/roles.ts";
import { isPrintable } from "../../model/unprintable.ts";
import { isTenantAdmin } from "../auth/access.ts";
import { requireEnabled } from "../auth/disabled-subjects.ts";
import { authenticateIssued } from "../auth/oidc/sign-in.ts";
import { addUserToken, hasToken, newUser, type UserRow, userNamed, userNameOf } from "../auth/users.ts";
import { type Context, timestamp } from "../context.ts";
import { recordEffect } from "../database/audit.ts";
import { toText } from "../database/json-text.ts";
import { countTotal, newestFirst } from "../database/select-page.ts";
import type { Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler, OperationBody, OperationResult } from "../http/operation-call.ts";
import { oneTimeToken } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { endTokensOf } from "./personal-access-token/revoke-subject-tokens.ts";
import { createPersonalToken } from "./personal-access-token/rows.ts";
import { accountsSection } from "./virtual-account/resource.ts";

const MAX_NAME_LENGTH = 256;

const listUsers: Handler<"listUsers"> = async ({ principal, query: { subject }, page }, { store: { read } }) => {
  if (!isTenantAdmin(principal)) throw forbidden("you may not list users");
  const all = read.selectFrom("users as u");
  const rows = subject === undefined ? all : all.where("u.slug", "=", slugOf(subject));
  const listed = rows
    .leftJoin("disabled_subjects as d", (join) =>
      join.on(({ eb, val }) => eb("d.subject", "=", eb(val("user:"), "||", eb.ref("u.slug")))),
    )
    .selectAll("u")
    .select("d.disabled_at");
  // Rows of users are small, so the size of the page is not checked.
  const found = await newestFirst(listed, "u.", page).execute();
  const groups = await read
    .selectFrom("user_groups")
    .selectAll()
    .where("member", "in", [...found.map(({ slug }) => slug), ""])
    .orderBy("name")
    .execute();
  const groupsOf = Map.groupBy(groups, ({ member }) => member);
  return {
    rows: found.map(({ disabled_at, ...user }) => {
      const named = groupsOf.get(user.slug)?.map(({ name }) => name);
      return toText({ ...shown(user, disabled_at !== null), ...(named !== undefined && { groups: named }) });
    }),
    total: await countTotal(rows, page, found.length),
  };
};

const putUser: Handler<"putUser"> = async ({ principal, body }, context) => {
  if (!isTenantAdmin(principal)) throw forbidden("you may not add or remove users");
  const { remove = false, ...wanted } = readUser(body);
  const { store } = context;
  return store.write(async (transaction) => {
    const existing = await userNamed(transaction, wanted.slug);
    const change = remove
      ? await removeUser(transaction, wanted.slug, existing, context)
      : await addUser(transaction, wanted, existing, context);
    const { resource, ...result } = change;
    if (resource !== null) await recordEffect(transaction, context, { principal, operation: "putUser", resource });
    return result;
  });
};

/** The operations on users: both of E17. */
export const resource: ResourceDefinition = {
  section: accountsSection,
  authenticate: authenticateIssued,
  operations: [
    defineOperation("listUsers", listUsers, {
      description:
        "All users, newest first: the administrator, those that were added, and those that have signed in through the issuer of OpenID Connect. Users that were removed are listed as `removed`. Only tenant-admins may call it.",
      replySchema: "User",
      parameters: { subject: { description: "Only this one", example: "user:ada@example.com" } },
      refuses: { also: [403] },
    }),
    defineOperation("putUser", putUser, {
      description:
        "Adds a user, who has the roles that manifests grant to `user:<e-mail>`, or removes one. With `signIn: token`, the reply has the token of the user, in this reply only; a user whose token was revoked gets another one by the same call. With `signIn: issuer` the user has no token here: whoever signs in through the issuer of OpenID Connect with that e-mail, verified, is this user from then on.\n\nA removed user loses all tokens at once, and cannot sign in, also not through the issuer. When the user is added again, nothing of before is valid. A repeated call changes nothing. Only tenant-admins may call it.",
      replySchema: "User",
      beside: {
        token: oneTimeToken,
        created: { description: "Whether this call added the user", type: "boolean", examples: [true] },
      },
      alwaysBeside: ["created"],
      members: {
        email: {
          description: "E-mail of the user; its case is ignored",
          minLength: 3,
          maxLength: 254,
          examples: ["ada@example.com"],
        },
        displayName: {
          description: "Name of the user; by default the e-mail",
          minLength: 1,
          maxLength: MAX_NAME_LENGTH,
          examples: ["Ada Lovelace"],
        },
        signIn: {
          description: "How the user signs in; `token` for a new one where it is absent",
          enum: ["token", "issuer"],
          examples: ["token"],
        },
        remove: { description: "Removes the user", examples: [false] },
      },
    }),
  ],
};

type Wanted = {
  readonly slug: string;
  readonly displayName?: string | undefined;
  readonly signIn?: "token" | "issuer" | undefined;
};
type Change = OperationResult<"putUser"> & { readonly resource: string | null };

async function addUser(
  transaction: Transaction<Tables>,
  { slug, displayName, signIn }: Wanted,
  existing: UserRow | null,
  context: Context,
): Promise<Change> {
  await requireEnabled(transaction, `user:${slug}`);
  if (existing === null || existing.removed_at !== null) {
    // Nothing that the removed one had may be valid again.
    await transaction.deleteFrom("users").where("slug", "=", slug).execute();
    const display_name = displayName ?? slug;
    const user = newUser({ id: context.newId(), slug, display_name, sign_in: signIn ?? "token" }, context);
    await transaction.insertInto("users").values(user).execute();
    return changed(user, { created: true, token: await tokenFor(transaction, user, context) });
  }
  const current = existing.sign_in ?? "token";
  if (signIn !== undefined && signIn !== current) {
    throw conflict("user-exists", `user:${slug} signs in by ${current}: remove the user before adding it otherwise`);
  }
  const user = { ...existing, display_name: displayName ?? existing.display_name };
  const isRenamed = user.display_name !== existing.display_name;
  if (isRenamed) {
    const { display_name } = user;
    await transaction.updateTable("users").set({ display_name }).where("id", "=", user.id).execute();
  }
  const token = (await hasToken(transaction, user.id)) ? null : await tokenFor(transaction, user, context);
  if (token === null && !isRenamed) return { ...changed(user, { created: false, token }), resource: null };
  return changed(user, { created: false, token });
}

async function tokenFor(transaction: Transaction<Tables>, { id, sign_in }: UserRow, context: Context) {
  if (sign_in === "issuer") return null;
  const token = createPersonalToken();
  await addUserToken(transaction, { userId: id, token }, context);
  return token;
}

async function removeUser(
  transaction: Transaction<Tables>,
  slug: string,
  existing: UserRow | null,
  context: Context,
): Promise<Change> {
  if (existing === null) throw notFound(`the user ${slug}`);
  if (existing.removed_at !== null) return { ...changed(existing, { created: false, token: null }), resource: null };
  const removed_at = timestamp(context);
  await transaction.updateTable("users").set({ removed_at }).where("id", "=", existing.id).execute();
  await endTokensOf(transaction, { subjectType: "user", subjectId: existing.id });
  await transaction.deleteFrom("user_groups").where("member", "=", slug).execute();
  return {
    ...changed({ ...existing, removed_at }, { created: false, token: null }),
    resource: `removed-user/${slug}`,
  };
}

function changed(
  user: UserRow,
  { created, token }: { readonly created: boolean; readonly token: Awaited<ReturnType<typeof tokenFor>> },
): Change {
  const data = toText(shown(user, false));
  return { data, beside: { created, ...(token !== null && { token }) }, resource: `user/${user.slug}` };
}

function shown(user: UserRow, isDisabled: boolean): User {
  const { id, slug, display_name: displayName, created_at, issuer, issuer_subject, signed_in_at, removed_at } = user;
  return {
    id,
    subject: `user:${slug}`,
    displayName,
    signIn: user.sign_in ?? "token",
    state: removed_at !== null ? "removed" : isDisabled ? "disabled" : "active",
    ...(created_at && { createdAt: created_at }),
    ...(issuer !== null && { issuer }),
    ...(issuer_subject !== null && { issuerSubject: issuer_subject }),
    ...(signed_in_at !== null && { signedInAt: new Date(Number(signed_in_at) * 1000).toISOString() }),
    ...(removed_at !== null && { removedAt: removed_at }),
  };
}

function readUser({ email, displayName, signIn, remove }: OperationBody<"putUser">): Wanted & {
  readonly remove?: boolean | undefined;
} {
  const slug = userNameOf(email);
  const isName =
    displayName === undefined ||
    (displayName.length > 0 && displayName.length <= MAX_NAME_LENGTH && isPrintable(displayName));
  const isSignIn = signIn === undefined || signIn === "token" || signIn === "issuer";
  const faults: ErrorDetail[] = [
    ...(slug === null ? [fault("email", "must be an e-mail, in the Unicode form NFKC")] : []),
    ...(isName ? [] : [fault("displayName", `must be 1 to ${MAX_NAME_LENGTH} printable characters`)]),
    ...(isSignIn ? [] : [fault("signIn", "must be token or issuer")]),
  ];
  if (slug === null || !isSignIn || faults.length > 0) throw malformed(faults);
  return { slug, displayName, signIn, remove };
}

function fault(member: string, message: string): ErrorDetail {
  return { pointer: `/${member}`, message, code: "form" };
}

function slugOf(subject: string): string {
  return subject.startsWith("user:") ? subjectName(subject).slice("user:".length) : "";
}
