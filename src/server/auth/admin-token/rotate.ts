import type { Context } from "../../context.ts";
import { OptionsError } from "../../options.ts";
import { tokenHash } from "../authenticate.ts";
import { logEnded } from "./register.ts";
import { addAdminToken, endAdminTokens, lockAdministrator, validAdminTokens } from "./rows.ts";
import { adminTokenFile, createAdminToken, readAdminTokens, writeAdminToken } from "./token-file.ts";

/** What a rotation did: the file with the new token, and how many tokens before the former one have ended. */
export type Rotation = { readonly file: string; readonly ended: number };

/** Makes a new token in the file; the former one stays valid, and any earlier one ends. */
export async function rotateAdminToken(context: Context): Promise<Rotation> {
  const file = adminTokenFile(context.folder);
  const inFile = new Set(readAdminTokens(file).map(tokenHash));
  const fresh = createAdminToken();
  const over = await context.store.write(async (transaction) => {
    await lockAdministrator(transaction);
    const valid = await validAdminTokens(transaction);
    // The one in the file is in use, even if a rotation was interrupted before its token was written there.
    const former = valid.find(({ hash }) => inFile.has(hash)) ?? valid[0];
    if (former === undefined) throw new OptionsError("no control plane has been started on this data yet");
    const earlier = valid.filter((token) => token !== former);
    await addAdminToken(transaction, fresh, context);
    return { ended: earlier, personal: await endAdminTokens(transaction, earlier, context) };
  });
  writeAdminToken(file, fresh);
  logEnded(over, context);
  return { file, ended: over.ended.length };
}

/** Ends all tokens of the administrator but the newest one; returns their number. */
export async function endFormerAdminTokens(context: Context): Promise<number> {
  const over = await context.store.write(async (transaction) => {
    await lockAdministrator(transaction);
    const [, ...former] = await validAdminTokens(transaction);
    return { ended: former, personal: await endAdminTokens(transaction, former, context) };
  });
  logEnded(over, context);
  return over.ended.length;
}
