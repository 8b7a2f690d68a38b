import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { temporaryFolder } from "../control-plane.ts";

/** A place for data that has no room from one moment on, and room again later. */
export type SmallDisk = { readonly fill: () => void; readonly free: () => void };

/** A folder on a file system of its own, of so many KiB, for the given user; or why there is none. */
export async function mountSmallDisk(
  kib: number,
  { uid = 0 }: { readonly uid?: number } = {},
): Promise<(SmallDisk & { readonly folder: string }) | { readonly reason: string }> {
  if (process.getuid?.() !== 0) return missing("a full file system is not tested: to mount one needs root");
  const place = await temporaryFolder();
  // Another user has to get through.
  await chmod(place, 0o711);
  const folder = join(place, "disk");
  await mkdir(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k,mode=0700,uid=${uid}`, "tmpfs", folder], {
      stdio: "pipe",
    });
  } catch {
    return missing("a full file system is not tested: this root may not mount one");
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
  return { folder, fill: () => fillUp(join(folder, "filler")), free: () => rmSync(join(folder, "filler")) };
}

function missing(reason: string): { readonly reason: string } {
  process.stderr.write(`${reason}\n`);
  return { reason };
}

function fillUp(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(1024));
  } catch {
    // There is no room any more.
  } finally {
    closeSync(file);
  }
}

/** `holdfast serve` in a process whose files can be kept from growing. */
export type Serving = {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: Secret;
  readonly log: () => string;
};

/** Starts `serve` on a folder; past a limit that is set on it its writes fail, as they do past a quota. */
export async function serveLimitable(data: string): Promise<Serving> {
  const cli = join(import.meta.dirname, "../../src/cli.ts");
  const args = [cli, "serve", "--port", "0", "--data", data, "--log-level", "info", "--log-format", "json"];
  // Without the trap the kernel would end it instead of telling it.
  const child = spawn(
    "sh",
    ["-c", 'trap "" XFSZ; exec "$0" "$@"', process.execPath, ...args, "--rollout-seconds", "0"],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`it ended: ${log}`);
  });
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  ended.catch(() => {});
  const token = (await readFile(join(data, "admin-token"), "utf8")).trim();
  return { child, url: String(line).replace("listening on ", ""), token: new Secret(token), log: () => log };
}

/** A disk that is full once the log of the database may not grow any more; or why that cannot be done. */
export function limitFiles({ pid }: ChildProcess, data: string): SmallDisk | { readonly reason: string } {
  const limit = (bytes: number | "unlimited") =>
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`], { stdio: "pipe" });
  try {
    limit("unlimited");
  } catch {
    return missing("a limit on the size of files is not tested: there is no prlimit that may be used");
  }
  const fill = () => limit(statSync(join(data, "control-plane.db-wal")).size);
  return { fill, free: () => limit("unlimited") };
}
