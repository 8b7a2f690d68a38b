import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOwnFile } from "../files/own-file.ts";
import { replaceFile } from "../files/write.ts";
import { holdExclusiveLock, isLockHeld } from "../store/lock-file.ts";
import { StoreError } from "../store/store-error.ts";

const MOST_BYTES = 1024;

/** Says in the data folder where the control plane listens; disposing of it takes that back. */
export async function announceEndpoint(folder: string, address: string): Promise<AsyncDisposable> {
  const url = onLoopback(address);
  const path = join(folder, "endpoint");
  // Locks of servers that were killed; the folder's own lock says that nobody else serves it now.
  for (const name of readdirSync(folder)) if (LOCK.test(name)) rmSync(join(folder, name), { force: true });
  // What was taken first is let go last.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(lockOf(folder, url), { force: true }));
  const lock = stack.use(holdExclusiveLock(lockOf(folder, url)));
  if (lock === null) throw new StoreError("locked", `${folder} is in use by another control plane`);
  replaceFile(path, `${url}\n`);
  stack.defer(() => rmSync(path, { force: true }));
  return stack.move();
}

/**
 * Where the control plane of a data folder listens: an address on loopback that its process, which is there, has
 * announced; null when there is none.
 */
export function announcedEndpoint(folder: string): string | null {
  const url = readOwnFile(join(folder, "endpoint"), { limit: MOST_BYTES })?.toString("utf8").trim();
  return url !== undefined && LOOPBACK.test(url) && isLockHeld(lockOf(folder, url)) ? url : null;
}

const LOOPBACK = /^https?:\/\/(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;
// With the journal that SQLite keeps beside one.
const LOCK = /^endpoint-[0-9a-f]{16}\.lock/;

/**
 * The lock that a control plane holds for as long as it listens at an address. That its process is there cannot be told by
 * its id: ids are given out again after a kill, and mean another process in another container. The kernel frees a lock at
 * any death, and shows it to everybody who shares the folder. Each address has a lock of its own, so that a server that
 * has just started in the place of a killed one does not vouch for the address that the other has left behind, where
 * somebody else may listen by now. And an address is the same one only in the same network of the same kernel: not on
 * another machine, or in another container, that has the folder mounted too.
 */
function lockOf(folder: string, url: string): string {
  const name = createHash("sha256").update(`${url}\n${network()}`).digest("hex").slice(0, 16);
  return join(folder, `endpoint-${name}.lock`);
}

function network(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8")}${readlinkSync("/proc/self/ns/net")}`;
  } catch {
    // Only Linux tells.
    return hostname();
  }
}

// Who listens on all addresses is reached on this one.
function onLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
