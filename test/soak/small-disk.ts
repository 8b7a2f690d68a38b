import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";

/** What a finished command left. */
export type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Why no small disk can be had here; null where one can. */
export function whyNoSmallDisk(): string | null {
  const { error, status, stderr } = apart("mount -t tmpfs tmpfs /mnt", {});
  if (error !== undefined) return "unshare is not installed";
  return status === 0 ? null : `no disk may be mounted here: ${stderr.trim()}`;
}

const SCRIPT = `
  run() { "$@" >"$OUTPUT/stdout-$NTH" 2>"$OUTPUT/stderr-$NTH"; echo $? >"$OUTPUT/code-$NTH"; }
  mount -t tmpfs -o "size=\${SIZE}k" tmpfs "$DISK" || exit 1
  NTH=1 run "$@"
  mount -o remount,size=16m "$DISK" || exit 1
  NTH=2 run "$@"`;

/** Runs a command with a disk of so many KiB on a folder, and again after the disk has got room; then the disk is gone. */
export async function runOnSmallDisk(
  command: readonly [string, ...string[]],
  { size, disk, cwd }: { readonly size: number; readonly disk: string; readonly cwd: string },
): Promise<readonly [first: Ended, second: Ended]> {
  const output = await temporaryFolder();
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, SIZE: String(size), DISK: disk, OUTPUT: output };
  const { status, stderr } = apart(SCRIPT, { command, cwd, env });
  if (status !== 0) throw new Error(`there is no disk of ${size} KiB: ${stderr}`);
  const read = (name: string) => readFileSync(join(output, name), "utf8");
  const ended = (nth: 1 | 2): Ended => ({
    code: Number(read(`code-${nth}`)),
    stdout: read(`stdout-${nth}`),
    stderr: read(`stderr-${nth}`),
  });
  return [ended(1), ended(2)];
}

type Apart = {
  readonly command?: readonly string[];
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
};

// Such mounts are seen by these processes alone, and end with them.
function apart(script: string, { command = [], ...options }: Apart) {
  return spawnSync("unshare", ["--mount", "sh", "-c", `${script}\ntrue`, "sh", ...command], {
    encoding: "utf8",
    ...options,
  });
}
