import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives work the Node binary of an architecture. Where it is not installed, npm fetches its package, in the version and with
 * the digest of the lock file; where npm cannot, the work is left out, and the reason is told.
 */
export function withNodeFor(architecture: string, work: (node: string) => void): void {
  const installed = `node_modules/node-linux-${architecture}/bin/node`;
  if (existsSync(installed)) {
    work(installed);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-node-"));
  try {
    fetchPackage(`node-linux-${architecture}`, folder);
    work(join(folder, "package/bin/node"));
  } catch (error) {
    console.error(`no executable for linux-${architecture}: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fetchPackage(name: string, folder: string): void {
  const locked = JSON.parse(readFileSync("package-lock.json", "utf8")).packages[`node_modules/${name}`];
  const args = ["pack", "--json", "--pack-destination", folder, `${name}@${locked.version}`];
  const [packed] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
  if (packed.integrity !== locked.integrity) throw new Error(`${name} is not the one of package-lock.json`);
  execFileSync("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
}
