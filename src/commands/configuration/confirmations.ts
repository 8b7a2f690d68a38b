import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";
import { canonical, type JsonObject } from "../../contract/json.ts";
import { requireOwnFolder } from "../../files/own-folder.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { isAtOrBelow, realPathOutside } from "../../files/real-path.ts";
import { createFile } from "../../files/write-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { Terminal } from "../terminal.ts";

/** Operator keys of one configuration file that a person has confirmed. */
export type Confirmation = {
  /** Real path of the file. */
  readonly path: string;
  readonly keys: JsonObject;
};

const MAX_BYTES = 8192;

/**
 * The folder that stores confirmations: `$XDG_STATE_HOME/holdfast/confirmed`, by default below `~/.local/state`.
 * Null if there is none outside the checkout, because a checkout must not be able to bring its own confirmations.
 */
export function confirmationFolder({ env }: Pick<Terminal, "env">, checkout: string): string | null {
  const { XDG_STATE_HOME: given = "", HOME: home = "" } = env;
  const base = isAbsolute(given) ? given : isAbsolute(home) ? join(home, ".local", "state") : null;
  if (base === null || isAtOrBelow(checkout, realPathOutside(null, base))) return null;
  return join(base, "holdfast", "confirmed");
}

/** Whether exactly these keys of exactly this file were confirmed before. */
export function isConfirmed(folder: string, confirmation: Confirmation): boolean {
  try {
    requireOwnFolder(folder, { isContent: true });
    const content = readOwnFile(fileOf(folder, confirmation), { limit: MAX_BYTES });
    return content?.toString("utf8") === contentOf(confirmation);
  } catch {
    // A file that others can write proves nothing about what our user confirmed.
    return false;
  }
}

/** Stores a confirmation; returns false if that is not possible. */
export async function keepConfirmation(folder: string, confirmation: Confirmation): Promise<boolean> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, { isContent: true });
    return createFile(fileOf(folder, confirmation), contentOf(confirmation));
  } catch {
    return false;
  }
}

function fileOf(folder: string, { path, keys }: Confirmation): string {
  const digest = createHash("sha256").update(canonical([path, keys]));
  return join(folder, digest.digest("hex"));
}

function contentOf({ path }: Confirmation): string {
  return `${path}\n`;
}
