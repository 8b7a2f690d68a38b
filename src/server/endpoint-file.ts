import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOwnFile } from "../files/read-own-file.ts";
import { replaceFile } from "../files/write-file.ts";
import { holdExclusiveLock, isLockHeld } from "../store/lock-file.ts";
import { StoreError } from "../store/store-error.ts";

const MAX_BYTES = 1024;

/** Writes to the data folder where the control plane listens, until it is disposed. */
export async function announceEndpoint(folder: string, address: string): Promise<AsyncDisposable> {
  const url = onLoopback(address);
  const path = join(folder, "endpoint");
  // Locks of killed servers; the folder's own lock excludes other running servers.
  for (const name of readdirSync(folder)) if (LOCK.test(name)) rmSync(join(folder, name), { force: true });
  // Released in reverse order.
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(lockOf(folder, url), { force: true }));
  const lock = stack.use(holdExclusiveLock(lockOf(folder, url)));
  if (lock === null) throw new StoreError("locked", `${folder} is in use by another control plane`);
  replaceFile(path, `${url}\n`);
  stack.defer(() => rmSync(path, { force: true }));
  return stack.move();
}

/**
 * The loopback address at which the control plane of a data folder listens; null when none is running.
 */
export function announcedEndpoint(folder: string): string | null {
  const url = readOwnFile(join(folder, "endpoint"), { limit: MAX_BYTES })?.toString("utf8").trim();
  return url !== undefined && LOOPBACK.test(url) && isLockHeld(lockOf(folder, url)) ? url : null;
}

const LOOPBACK = /^https?:\/\/(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}$/;
// Including SQLite's journal file.
const LOCK = /^endpoint-[0-9a-f]{16}\.lock/;

/**
 * The lock that a control plane holds while it listens at an address. A process id would not do: ids are reused, and
 * differ between containers. The kernel releases a lock when the process ends, and shows it to all who share the folder.
 * Each address has its own lock, so that a new server does not confirm the address of a killed one, where another process
 * may listen now. The name includes the kernel and network namespace, since the same address means another server on
 * another machine, or in another container, that mounts the folder.
 */
function lockOf(folder: string, url: string): string {
  const name = createHash("sha256").update(`${url}\n${network()}`).digest("hex").slice(0, 16);
  return join(folder, `endpoint-${name}.lock`);
}

function network(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8")}${readlinkSync("/proc/self/ns/net")}`;
  } catch {
    // Not on Linux.
    return hostname();
  }
}

// A server on all addresses can be reached on loopback.
function onLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
