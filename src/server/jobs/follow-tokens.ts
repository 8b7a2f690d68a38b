import { sql } from "kysely";
import { operations } from "../../contract/operations.ts";
import type { Context } from "../context.ts";
import { idPrefixAt } from "../database/id-generator.ts";
import { RecurringTask } from "./recurring-task.ts";

const EVERY_MS = 1000;
// Longer than a transaction takes, and than the clocks of two servers differ.
const WINDOW_MS = 60_000;
const MAX_SEEN = 10_000;

/**
 * Logs which tokens are revoked, ended or made from now on, by the rows of the audit: a command beside this server may do
 * it, or another server.
 */
export async function followTokens(context: Context): Promise<AsyncDisposable> {
  const { store, clock, log } = context;
  const read = () => rowsSince(store, clock.now() - WINDOW_MS);
  let seen: ReadonlySet<string> = new Set((await read()).map(({ id }) => id));
  const check = async (): Promise<number> => {
    const rows = (await read()).filter(({ id }) => !seen.has(id));
    for (const { principal, operation, resource } of rows) {
      const { event, message } = eventOf(operation, resource);
      log.warn({ event, principal, resource }, message);
    }
    seen = new Set([...seen, ...rows.map(({ id }) => id)].slice(-MAX_SEEN));
    return clock.now() + EVERY_MS;
  };
  // That the storage fails is logged once, for everything that needs it.
  const task = new RecurringTask(check, clock, (error) =>
    log.debug({ event: "job-failed", job: "following tokens", err: error }, "following tokens failed"),
  );
  task.at(clock.now() + EVERY_MS);
  return { [Symbol.asyncDispose]: () => task.close() };
}

const ADMIN_TOKEN = "admin-token";
const DISABLED: string = operations.disableSubject.number;
const USER: string = operations.putUser.number;

// As the index of these rows has it, text for text: they are looked for each second, among thousands of others.
const isOfTokens = sql<boolean>`(operation IN ('admin-token', 'E13', 'E16', 'E17') OR principal = 'revocation')`;

function rowsSince({ read }: Context["store"], moment: number) {
  return read
    .selectFrom("audit")
    .select(["id", "principal", "operation", "resource"])
    .where("id", ">", idPrefixAt(moment))
    .where("outcome", "=", "done")
    .where(isOfTokens)
    .orderBy("id")
    .execute();
}

function eventOf(operation: string, resource: string) {
  if (operation === DISABLED) return { event: "subject-disabled", message: "it was disabled: its tokens have ended" };
  if (operation === USER) {
    return resource.startsWith("removed-")
      ? { event: "user-removed", message: "the user was removed: its tokens have ended" }
      : { event: "user-added", message: "the user was added or changed" };
  }
  if (operation !== ADMIN_TOKEN) return { event: "tokens-revoked", message: "its tokens were revoked" };
  return resource.startsWith("ended-")
    ? { event: "admin-token-ended", message: "an admin token has ended, and the personal tokens created with it" }
    : { event: "admin-token-made", message: "a new admin token was made" };
}
