import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Secret } from "../../contract/secret.ts";
import { readOwnFile } from "../../files/own-file.ts";
import { createFile } from "../../files/write.ts";
import { type Context, timestamp } from "../context.ts";
import { OptionsError } from "../options-error.ts";
import { isBearerToken, tokenHash } from "./authenticate.ts";
import { tenant } from "./principal.ts";

const SHORTEST = 16;
const ADMIN = "admin";
/** Room for any token. */
const MOST_BYTES = 64 * 1024;

/**
 * The administrator's token is the given one, else the one in `admin-token`, which is made at the first start; all
 * others stop working, so that removing the file and starting again replaces a token that got around.
 */
export async function ensureAdminToken(context: Context, given: Secret | undefined): Promise<Secret> {
  const token = given ?? tokenFile(join(context.folder, "admin-token"));
  if (token.open().length < SHORTEST) {
    throw new OptionsError(`the administrator's token must be at least ${SHORTEST} characters`);
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
    // What a former one made is forgotten, so that it does not count again should that one come back.
    for (const { hash: credential } of former) {
      const made = transaction.deleteFrom("personal_tokens").where("credential", "=", credential);
      const { length: ended } = await made.returning("id").execute();
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
  const bytes = readOwnFile(path, { limit: MOST_BYTES, isSecret: true });
  return new Secret((bytes ?? "").toString().trim());
}
