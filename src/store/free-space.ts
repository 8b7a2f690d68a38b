import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

// Less is no room for one write of ordinary size, with what the log of the database needs beside it.
const LEAST_BYTES = 65_536;

/** Whether the file system of a file has room for more, as far as it tells: quotas and limits of the process show when a write fails. */
export async function hasFreeSpace(path: string): Promise<boolean> {
  const { blocks, bfree, bavail, bsize } = await statfs(dirname(path));
  // Some file systems count nothing.
  if (blocks === 0) return true;
  // Of what is set aside for root, others have nothing.
  const free = process.getuid?.() === 0 ? bfree : bavail;
  return free * bsize >= LEAST_BYTES;
}
