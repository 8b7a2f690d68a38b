import { printable } from "../render/escape.ts";
import { revokeInDatabase } from "../server/offline-admin.ts";
import type { InvocationOf } from "./command.ts";
import { dataOptions } from "./configuration/data-options.ts";
import type { revoke } from "./declarations/revoke.ts";
import { offlineFailure } from "./errors/offline-failure.ts";
import { writeResult } from "./terminal.ts";

/** Revokes the tokens of the given subjects, whether the control plane runs or not. */
export async function run(invocation: InvocationOf<typeof revoke>): Promise<number> {
  const { args, terminal } = invocation;
  try {
    await revokeInDatabase(await dataOptions(invocation), args);
  } catch (error) {
    throw offlineFailure("nothing was revoked", error);
  }
  await writeResult(terminal, args.map(revokedText).join(""));
  return 0;
}

function revokedText(subject: string): string {
  const text = `the tokens of ${printable(subject)} are void\n`;
  if (subject !== "user:admin") return text;
  return `${text}the admin token of the control plane stays valid: holdfast admin-token rotate replaces it\n`;
}
