import { HoldfastError } from "../core/errors.ts";
import { count } from "../render/count-text.ts";
import { printable } from "../render/escape.ts";
import { endFormerAdminTokensInDatabase, rotateAdminTokenInDatabase } from "../server/offline-admin.ts";
import type { DataOptions } from "../server/options.ts";
import type { InvocationOf } from "./command.ts";
import { dataOptions } from "./configuration/data-options.ts";
import type { adminToken } from "./declarations/admin-token.ts";
import { offlineFailure } from "./errors/store-failure.ts";
import { writeResult } from "./terminal.ts";

/** Replaces the admin token, whether the control plane runs or not. */
export async function run(invocation: InvocationOf<typeof adminToken>): Promise<number> {
  const { args, terminal } = invocation;
  const act = actionOf(args);
  try {
    await writeResult(terminal, await act(await dataOptions(invocation)));
  } catch (error) {
    throw offlineFailure("the admin token is unchanged", error);
  }
  return 0;
}

function actionOf(args: readonly string[]): (options: DataOptions) => Promise<string> {
  if (args.length === 1 && args[0] === "rotate") return rotate;
  if (args.length === 1 && args[0] === "end-former") return endFormer;
  throw new HoldfastError("invalid", "admin-token needs rotate or end-former", {
    hint: "holdfast admin-token --help has examples",
  });
}

async function rotate(options: DataOptions): Promise<string> {
  const { file, ended } = await rotateAdminTokenInDatabase(options);
  return (
    `a new admin token is in ${printable(file)}; the former one stays valid until holdfast admin-token end-former\n` +
    (ended === 0 ? "" : endedText(count(ended, "earlier admin token"), ended)) +
    "where HOLDFAST_ADMIN_TOKEN sets the token, put the new one on its first line before a server starts again\n"
  );
}

async function endFormer(options: DataOptions): Promise<string> {
  const ended = await endFormerAdminTokensInDatabase(options);
  if (ended === 0) return "there is one admin token alone, which stays valid\n";
  return endedText(count(ended, "former admin token"), ended);
}

function endedText(which: string, ended: number): string {
  return `${which} ended, with the personal tokens created with ${ended === 1 ? "it" : "them"}\n`;
}
