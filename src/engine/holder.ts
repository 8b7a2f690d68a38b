import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { State } from "./state.ts";

/**
 * How this state folder is called as the holder of leases: on this machine it stays the same, so that a run after a
 * crash need not outlive its own lease. Only who holds the folder's lock may use it.
 */
export async function holderOf({ folder }: Pick<State, "folder">): Promise<string> {
  const file = join(folder, "holder");
  await writeFile(file, randomUUID().slice(0, 8), { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  });
  const id = (await readFile(file, "utf8")).trim();
  // A copy of the folder on another machine is another holder.
  return `${hostname().slice(0, 64)}:${folder.slice(-128)} (${id.slice(0, 8)})`.replaceAll(/\p{Cc}/gu, "?");
}
