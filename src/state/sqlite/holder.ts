import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOwnFile } from "../../files/read.ts";
import { createFile } from "../../files/write.ts";
import type { State } from "./open.ts";

// It holds eight characters.
const MOST_BYTES = 1024;

/**
 * How this state folder is called as the holder of leases: on this machine it stays the same, so that a run after a
 * crash need not outlive its own lease. Only who holds the folder's lock may use it.
 */
export function holderOf({ folder }: Pick<State, "folder">): string {
  const file = join(folder, "holder");
  createFile(file, randomUUID().slice(0, 8));
  const id = (readOwnFile(file, { limit: MOST_BYTES }) ?? "").toString().trim();
  // A copy of the folder on another machine is another holder.
  return `${hostname().slice(0, 64)}:${folder.slice(-128)} (${id.slice(0, 8)})`.replaceAll(/\p{Cc}/gu, "?");
}
