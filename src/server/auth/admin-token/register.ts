// src/server/auth/admin-token: the administrator's token. See docs/control-plane.md#the-administrators-token.

import type { Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { announcePresence, otherServerSeen } from "../../jobs/presence.ts";
import { OptionsError } from "../../options.ts";
import { tokenHash } from "../authenticate.ts";
import { addAdminToken, endAdminTokens, endedAmong, lockAdministrator, validAdminTokens } from "./rows.ts";
import { adminTokenFile, createAdminToken, parseAdminTokens, readAdminTokens, writeAdminToken } from "./token-file.ts";

/** Which token of the administrator a server starts with. */
export type AdminTokenChoice = {
  /** The id of the starting server. */
  readonly server: string;
  /** One or two tokens, the newest first; by default the one in `admin-token` in the data folder. */
  readonly given: Secret | undefined;
  /** Whether to make a new one although the current one is elsewhere. */
  readonly isNew: boolean;
};

/** Tokens that have ended, and how many personal tokens with them. */
export type EndedTokens = { readonly ended: readonly Tables["tokens"][]; readonly personal: number };

/**
 * Registers the administrator's token: the given ones, else the one in the file, which is created at the first start.
 * The given ones replace all others when the first of them is the newest: a server with an earlier setting changes
 * nothing. A token that has ended is never valid again.
 */
export async function registerAdminToken(context: Context, choice: AdminTokenChoice): Promise<Secret> {
  const { given, isNew } = choice;
  if (given !== undefined && isNew) {
    throw new OptionsError(
      "--new-admin-token makes a token of its own, and HOLDFAST_ADMIN_TOKEN sets one: use one of them",
    );
  }
  const offered = given === undefined ? readAdminTokens(adminTokenFile(context.folder)) : parseAdminTokens(given);
  if (given !== undefined && offered.length === 0) throw new OptionsError("HOLDFAST_ADMIN_TOKEN has no token");
  const fresh = createAdminToken();
  const registered = await context.store.write((transaction) =>
    register({ transaction, context, choice, offered, fresh }),
  );
  const { token, ended, isOutdated } = registered;
  const where = { file: adminTokenFile(context.folder) };
  if (token === fresh && ended.length > 0)
    context.log.warn({ event: "admin-token-made", ...where }, "a new admin token was made");
  if (isOutdated)
    context.log.warn(
      { event: "admin-token-outdated" },
      "HOLDFAST_ADMIN_TOKEN begins with an earlier token than the newest, so it ends none",
    );
  logEnded(registered, context);
  return token;
}

/** Logs that tokens have ended. */
export function logEnded({ ended, personal }: EndedTokens, { log }: Context): void {
  if (ended.length === 0) return;
  const tokens = ended.map(({ name }) => name);
  log.warn(
    { event: "admin-token-ended", tokens, personal },
    "the former admin token has ended, and the personal tokens created with it",
  );
}

type Registration = {
  readonly transaction: Transaction<Tables>;
  readonly context: Context;
  readonly choice: AdminTokenChoice;
  readonly offered: readonly Secret[];
  readonly fresh: Secret;
};

async function register(
  registration: Registration,
): Promise<EndedTokens & { readonly token: Secret; readonly isOutdated: boolean }> {
  const { transaction, context, choice, fresh } = registration;
  await lockAdministrator(transaction, context);
  const valid = await validAdminTokens(transaction);
  const usable = await usableTokens(registration, valid);
  const [newest = fresh] = usable;
  // Written before the commit: a token that is valid and that nobody has would be worse than an unknown one in the file.
  if (newest === fresh) writeAdminToken(adminTokenFile(context.folder), fresh);
  await announcePresence(transaction, context, choice.server);
  const chosen = usable.length === 0 ? [fresh] : usable;
  const added = await addUnknown(registration, chosen, valid);
  const isSet = choice.given !== undefined;
  const isNewest = added.has(newest) || (isSet && valid[0]?.hash === tokenHash(newest));
  if (!isNewest) return { token: newest, ended: [], personal: 0, isOutdated: isSet };
  const kept = new Set(chosen.map(tokenHash));
  const ended = valid.filter(({ hash }) => !kept.has(hash));
  return { token: newest, ended, personal: await endAdminTokens(transaction, ended, context), isOutdated: false };
}

async function addUnknown(
  { transaction, context }: Registration,
  tokens: readonly Secret[],
  valid: readonly Tables["tokens"][],
): Promise<ReadonlySet<Secret>> {
  const unknown = tokens.filter((token) => valid.every(({ hash }) => hash !== tokenHash(token)));
  for (const token of unknown.toReversed()) await addAdminToken(transaction, token, context);
  return new Set(unknown);
}

/** The offered tokens to use; none when a new one is to be made. */
async function usableTokens(
  { transaction, context, choice, offered }: Registration,
  valid: readonly Tables["tokens"][],
): Promise<readonly Secret[]> {
  const over = await endedAmong(transaction, offered);
  const usable = offered.filter((token) => !over.has(tokenHash(token)));
  if (choice.given !== undefined) {
    if (usable.length > 0) return usable;
    throw new OptionsError("the token in HOLDFAST_ADMIN_TOKEN has ended: set the current one, or another that is new");
  }
  if (choice.isNew) return [];
  const isCurrent = usable.some((token) => valid.some(({ hash }) => hash === tokenHash(token)));
  if (isCurrent || valid.length === 0) return usable;
  const seen = await otherServerSeen(transaction, context);
  if (seen === null) return usable;
  throw new OptionsError(
    `the current admin token is not in ${adminTokenFile(context.folder)}, and another server on this database was seen ` +
      `${seen} s ago: set HOLDFAST_ADMIN_TOKEN, as on the other servers, copy the file of that server, or end the current ` +
      "token with --new-admin-token",
  );
}
