import { join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import { backUpDatabase } from "../server/offline-admin.ts";
import { checkoutAt } from "../source/git/repository-paths.ts";
import { StoreError } from "../store/store-error.ts";
import type { InvocationOf } from "./command.ts";
import { dataFolder } from "./configuration/data-folder.ts";
import type { backup } from "./declarations/backup.ts";
import { storeFailure } from "./errors/store-failure.ts";
import { outputPath } from "./output/output-path.ts";
import { say, type Terminal, writeResult } from "./terminal.ts";

/** Copies the data of the control plane to a file, whether it runs or not. */
export async function run(invocation: InvocationOf<typeof backup>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [file = ""] = args;
  if (flags.database) {
    throw new HoldfastError("invalid", "PostgreSQL makes its own backups", {
      hint: 'pg_dump --format=custom --file FILE "$HOLDFAST_DATABASE", and keep the server\'s key and the staged files',
    });
  }
  const folder = await dataFolder(invocation);
  const place = { cwd: terminal.cwd, content: checkoutAt(terminal.cwd) };
  const keys = await copied(folder, outputPath(file, place), terminal);
  await writeResult(terminal, `the data of ${printable(folder)} is in ${printable(file)}\n`);
  const [key, staged] = [join(folder, "server-key"), join(folder, "artifacts")];
  say(
    terminal,
    `keep with it, in another place: the server's key ${keys.join(", ")} (${key} unless you gave one), ` +
      `without which no secret in it can be read, and the staged files (${staged} unless you said where)`,
  );
  return 0;
}

async function copied(folder: string, file: string, { random }: Terminal): Promise<readonly string[]> {
  try {
    return await backUpDatabase(folder, file, random);
  } catch (error) {
    throw error instanceof StoreError ? storeFailure("there is no backup", error) : error;
  }
}
