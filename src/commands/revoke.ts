import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import { SealKeyError } from "../seal/seal-key.ts";
import { revokeInDatabase } from "../server/offline-admin.ts";
import { OptionsError } from "../server/options.ts";
import { StoreError } from "../store/store-error.ts";
import type { InvocationOf } from "./command.ts";
import { dataFolder } from "./configuration/data-folder.ts";
import type { revoke } from "./declarations/revoke.ts";
import { storeFailure } from "./errors/store-failure.ts";
import { serverKeyOptions } from "./keys/server-key-options.ts";
import { terminalLog } from "./output/terminal-log.ts";
import { writeResult } from "./terminal.ts";

/** Revokes the tokens of the given subjects, whether the control plane runs or not. */
export async function run(invocation: InvocationOf<typeof revoke>): Promise<number> {
  const { args, flags, terminal } = invocation;
  try {
    await revokeInDatabase(
      {
        data: await dataFolder(invocation),
        ...(flags.database ? { database: new Secret(flags.database) } : {}),
        ...serverKeyOptions(terminal),
        log: terminalLog(invocation, "error"),
      },
      args,
    );
  } catch (error) {
    throw failure(error);
  }
  await writeResult(terminal, args.map(revokedText).join(""));
  return 0;
}

function revokedText(subject: string): string {
  const text = `the tokens of ${printable(subject)} are void\n`;
  if (subject !== "user:admin") return text;
  return `${text}the admin token of the control plane stays valid: start it with another HOLDFAST_ADMIN_TOKEN\n`;
}

function failure(error: unknown): unknown {
  if (error instanceof StoreError) return storeFailure("nothing was revoked", error);
  if (!(error instanceof OptionsError || error instanceof SealKeyError)) return error;
  return new HoldfastError("invalid", error.message, { cause: error });
}
