import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

// One ordinary write needs less, the database's log included.
const MIN_BYTES = 65_536;

/** Whether the file system of a file has free space. Quotas and process limits show only when a write fails. */
export async function hasFreeSpace(path: string): Promise<boolean> {
  const { blocks, bfree, bavail, bsize } = await statfs(dirname(path));
  // Some file systems report no numbers.
  if (blocks === 0) return true;
  // Some blocks are reserved for root.
  const free = process.getuid?.() === 0 ? bfree : bavail;
  return free * bsize >= MIN_BYTES;
}
