import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const GiB = 2 ** 30;

/**
 * A folder in memory for what the tests write, until this process ends: hundreds of databases then wait for no disk.
 * Null where there is little memory, or where no program may be started from there.
 */
export function memoryFolder(): string | null {
  if (!existsSync(MEMORY) || !allowsPrograms(readFileSync("/proc/mounts", "utf8"))) return null;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < 4 * GiB || freemem() < 8 * GiB) return null;
  const folder = mkdtempSync(join(MEMORY, "tests-"));
  // As `/tmp` is: PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o1777);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether programs and devices work on the file system, by the table of mounts. */
function allowsPrograms(mounts: string): boolean {
  const mount = mounts.split("\n").findLast((line) => line.split(" ")[1] === MEMORY);
  const options = mount?.split(" ")[3]?.split(",") ?? [];
  return mount !== undefined && !options.includes("noexec") && !options.includes("nodev");
}
