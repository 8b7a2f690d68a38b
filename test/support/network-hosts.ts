import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";

/** A host of its own as far as the network goes: a network namespace with one link, to this machine. */
export type NetworkHost = {
  /** Where this machine finds it. */
  readonly address: string;
  /** What starts a command on it. */
  readonly through: readonly string[];
  /** Takes its link down: nobody is told, and what is sent is lost. */
  readonly disconnect: () => void;
  readonly connect: () => void;
};

/** Some hosts, and where this machine is found from all of them. */
export type Network = AsyncDisposable & { readonly address: string; readonly hosts: readonly NetworkHost[] };

/** Makes hosts of network namespaces; null where this machine lets nobody make them. */
export async function openNetwork(count: number): Promise<Network | null> {
  await using resources = new AsyncDisposableStack();
  // So that the networks of several tests at once, each of at most 64 hosts, differ.
  const network = `10.${randomInt(200, 250)}.${randomInt(256)}`;
  const hosts: NetworkHost[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const holder = spawn("unshare", ["--net", "sh", "-c", "echo ready; cat >/dev/null"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    resources.defer(() => end(holder));
    const host = (await isReady(holder))
      ? hostOf(holder, { here: `${network}.${4 * nth + 1}`, there: `${network}.${4 * nth + 2}` })
      : null;
    if (host === null) return null;
    hosts.push(host);
  }
  const owned = resources.move();
  return { address: `${network}.1`, hosts, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Why there are no hosts of their own, for the output of a test. */
export const NO_NETWORK = "this machine lets nobody make network namespaces: the hosts are processes behind proxies";

async function isReady({ stdout }: ChildProcess): Promise<boolean> {
  if (stdout === null) return false;
  const first = await Promise.race([once(stdout, "data"), once(stdout, "close").then(() => null)]);
  return first !== null;
}

// The namespace, and with it the link, lasts as long as a process in it.
async function end(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null || holder.pid === undefined) return;
  const ended = once(holder, "exit");
  holder.stdin?.end();
  await ended;
}

function hostOf(
  { pid = 0 }: ChildProcess,
  { here, there }: { readonly here: string; readonly there: string },
): NetworkHost | null {
  const link = `holdfast${pid}`.slice(0, 15);
  const through = ["nsenter", `--net=/proc/${pid}/ns/net`];
  const up = [...through, "sh", "-c", `ip link set eth0 up && ip route replace default via ${here}`];
  const made = [
    ["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", String(pid)],
    ["ip", "address", "add", `${here}/30`, "dev", link],
    ["ip", "link", "set", link, "up"],
    [...through, "ip", "link", "set", "lo", "up"],
    [...through, "ip", "address", "add", `${there}/30`, "dev", "eth0"],
    up,
  ].every((command) => succeeds(command));
  if (!made) return null;
  const require = (command: readonly string[]): void => {
    if (!succeeds(command)) throw new Error(`it fails: ${command.join(" ")}`);
  };
  return {
    address: there,
    through,
    disconnect: () => require([...through, "ip", "link", "set", "eth0", "down"]),
    connect: () => require(up),
  };
}

function succeeds([command = "", ...args]: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}
