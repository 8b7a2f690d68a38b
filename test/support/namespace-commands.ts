import { spawnSync } from "node:child_process";
import type { TestContext } from "vitest";

// As root of the machine, or of a user namespace of its own.
const asRoot = ["unshare", ...(process.geteuid?.() === 0 ? [] : ["--user", "--map-root-user"])];
const unshare = [...asRoot, "--mount"];

/** What starts a command in a container's view of other processes, or of the network. */
export function inNamespace(name: "pid" | "net"): readonly string[] {
  return name === "pid" ? [...unshare, "--pid", "--fork", "--mount-proc"] : [...asRoot, "--net"];
}

/** Ends a test that needs a file system of its own, and says why, where the machine allows none. */
export function needsMounts({ skip }: Pick<TestContext, "skip">): void {
  const [command = "", ...args] = [...unshare, "mount", "-t", "tmpfs", "tmpfs", "/tmp"];
  skip(spawnSync(command, args).status !== 0, "this machine lets nobody mount a file system");
}

/** What starts a command for which a folder is read-only. */
export function readOnly(folder: string): readonly string[] {
  return mounting('mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$PWD"', folder);
}

/** What starts a command for which a folder is on a disk of its own, which is full after what lies in the folder now. */
export function fullDisk(folder: string): readonly string[] {
  const kept = `cp -a "$0" "$0.kept" && mount -t tmpfs -o size=1m,mode=700 tmpfs "$0" && cp -a "$0.kept/." "$0"`;
  return mounting(`${kept} && { dd if=/dev/zero of="$0/fill" bs=4k 2>/dev/null; true; } && cd "$PWD"`, folder);
}

/** What starts a command for which an empty volume that everybody may write is mounted on a folder. */
export function openVolume(folder: string): readonly string[] {
  return mounting('mount -t tmpfs -o mode=0777 tmpfs "$0" && cd "$PWD"', folder);
}

function mounting(script: string, folder: string): readonly string[] {
  return [...unshare, "sh", "-c", `${script} && exec "$@"`, folder];
}
