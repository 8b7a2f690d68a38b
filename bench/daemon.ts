import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { cleanEnvironment } from "./run-program.ts";
import { busyMilliseconds, endProcess, peakMegabytes } from "./start-server.ts";

/** A daemon is started as the image starts it. */
export const DAEMON = join(import.meta.dirname, "../deploy/image/holdfast");

/** The environment of a daemon: with this process's own node first. */
export function daemonEnvironment(): NodeJS.ProcessEnv {
  return { ...cleanEnvironment(), PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
}

/** What one pass of a daemon took. */
export type Pass = {
  /** From what caused it to its end. */
  readonly milliseconds: number;
  /** For how long it kept a processor busy. */
  readonly busyMilliseconds: number;
};

/** The passes of a daemon: with nothing to do, and after one changed file. */
export type DaemonPasses = {
  readonly idle: readonly Pass[];
  readonly changed: readonly Pass[];
  /** The most memory that it has had. */
  readonly peakMegabytes: number;
};

/** A daemon on a source that is in sync, and a manifest in it whose replicas may be changed. */
export type DaemonPlace = {
  readonly source: string;
  readonly state: string;
  readonly env: { readonly [name: string]: string };
  readonly manifest: string;
  readonly count: number;
};

/** Measures so many passes of each sort, after one of each that does not count. */
export async function measureDaemon(place: DaemonPlace): Promise<DaemonPasses> {
  const text = readFileSync(place.manifest, "utf8");
  const [replicas = ""] = /^replicas: \d+$/m.exec(text) ?? [];
  if (replicas === "") throw new Error(`no replicas in ${place.manifest}`);
  await using daemon = await startDaemon(place);
  const idle: Pass[] = [];
  const changed: Pass[] = [];
  for (let nth = 0; nth <= place.count; nth += 1) idle.push(await daemon.pass(daemon.hangUp));
  for (let nth = 0; nth <= place.count; nth += 1) {
    const edited = text.replace(replicas, `replicas: ${10 + nth}`);
    changed.push(await daemon.pass(() => writeFileSync(place.manifest, edited)));
  }
  // As it was found: what is measured next expects everything to be in sync.
  await daemon.pass(() => writeFileSync(place.manifest, text));
  return { idle: idle.slice(1), changed: changed.slice(1), peakMegabytes: daemon.peakMegabytes() };
}

type Daemon = AsyncDisposable & {
  readonly hangUp: () => void;
  /** Causes a pass, and waits until it has ended. */
  readonly pass: (cause: () => void) => Promise<Pass>;
  readonly peakMegabytes: () => number;
};

async function startDaemon({ source, state, env }: DaemonPlace): Promise<Daemon> {
  const flags = ["--no-wait", "--sink", "file", "--interval", "3600", "--listen", "127.0.0.1:0", "-o", "text"];
  const child = spawn(DAEMON, ["watch", "--source", source, "--state", state, ...flags], {
    env: { ...daemonEnvironment(), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = () => endProcess(child);
  try {
    const url = await metricsAt(child.stderr);
    const pid = child.pid ?? 0;
    let passes = await passesAfter(url, 0);
    return {
      hangUp: () => void child.kill("SIGHUP"),
      pass: async (cause) => {
        const [began, busy] = [performance.now(), busyMilliseconds(pid)];
        cause();
        passes = await passesAfter(url, passes);
        return { milliseconds: performance.now() - began, busyMilliseconds: busyMilliseconds(pid) - busy };
      },
      peakMegabytes: () => peakMegabytes(pid),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function metricsAt(stderr: Readable): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [, url] = /^health and metrics on (http:\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    // Nobody reads the rest.
    stderr.resume();
    return `${url}/metrics`;
  }
  throw new Error("the daemon ended before it listened");
}

// Asked seldom, since an answer takes the daemon's own time.
const ASK_AGAIN_MS = 50;

async function passesAfter(url: string, before: number): Promise<number> {
  for (;;) {
    const metrics = await (await fetch(url)).text();
    // Each trigger counts on its own.
    const counts = metrics.matchAll(/^holdfast_passes_total\{[^}]*result="applied"[^}]*\} (\d+)$/gm);
    const count = counts.reduce((sum, [, one]) => sum + Number(one), 0);
    if (count > before) return count;
    await wait(ASK_AGAIN_MS);
  }
}
