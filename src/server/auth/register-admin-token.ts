import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Secret } from "../../contract/secret.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { createFile } from "../../files/write-file.ts";
import { type Context, timestamp } from "../context.ts";
import { OptionsError } from "../options.ts";
import { isBearerToken, tokenHash } from "./authenticate.ts";
import { tenant } from "./principal.ts";

const MIN_LENGTH = 16;
const ADMIN = "admin";
/** Enough for any token. */
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Registers the administrator's token: the given one, else the one in the file `admin-token`, which is created at the
 * first start. Other tokens of the administrator are deleted, so removing the file and restarting replaces a leaked one.
 */
export async function registerAdminToken(context: Context, given: Secret | undefined): Promise<Secret> {
  const token = given ?? tokenFile(join(context.folder, "admin-token"));
  if (token.open().length < MIN_LENGTH) {
    throw new OptionsError(`the administrator's token must be at least ${MIN_LENGTH} characters`);
  }
  if (!isBearerToken(token.open())) {
    throw new OptionsError(
      "the administrator's token must be of letters, digits and - . _ ~ + / (with = at its end alone)",
    );
  }
  const created = timestamp(context);
  await context.store.write(async (transaction) => {
    await transaction
      .insertInto("users")
      .values({ id: ADMIN, slug: ADMIN, display_name: "Administrator" })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
    await transaction
      .insertInto("grants")
      .values({
        source: "bootstrap",
        subject: `user:${ADMIN}`,
        resource_type: "tenant",
        resource_fqn: tenant,
        role_id: "tenant-admin",
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const hash = tokenHash(token);
    const former = await transaction
      .deleteFrom("tokens")
      .where("user_id", "=", ADMIN)
      .where("name", "=", "bootstrap")
      .where("hash", "!=", hash)
      .returning("hash")
      .execute();
    // Personal tokens created with a former token are deleted, so that they stay invalid if that token is configured again.
    for (const { hash: credential } of former) {
      const dependent = transaction.deleteFrom("personal_tokens").where("credential", "=", credential);
      const { length: ended } = await dependent.returning("id").execute();
      if (ended > 0) context.log.warn({ ended }, "personal tokens ended with the administrator's former token");
    }
    await transaction
      .insertInto("tokens")
      .values({ hash, user_id: ADMIN, name: "bootstrap", created_at: created })
      .onConflict((conflict) => conflict.column("hash").doNothing())
      .execute();
  });
  return token;
}

function tokenFile(path: string): Secret {
  const fresh = `hf_${randomBytes(32).toString("base64url")}`;
  if (createFile(path, `${fresh}\n`, { durable: true })) return new Secret(fresh);
  const bytes = readOwnFile(path, { limit: MAX_FILE_BYTES, isSecret: true });
  return new Secret((bytes ?? "").toString().trim());
}
