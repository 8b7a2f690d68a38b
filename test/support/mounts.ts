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
