import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { DAEMON, daemonEnvironment, type Pass } from "./daemon.ts";
import type { BenchControlPlane } from "./start-control-plane.ts";
import { busyMilliseconds, peakMegabytes } from "./start-server.ts";

/** What a daemon took that follows a repository. */
export type Pushes = {
  /** Each from the webhook of a push to the end of its pass, with one changed manifest. */
  readonly pushes: readonly Pass[];
  /** The share of a processor that it takes between passes. */
  readonly restShare: number;
  readonly peakMegabytes: number;
};

/** A source in sync, whose manifest `file` may have other replicas, and where a daemon may work. */
export type PushPlace = {
  readonly work: string;
  readonly source: string;
  /** The file within the source. */
  readonly file: string;
  readonly plane: Pick<BenchControlPlane, "env">;
  readonly count: number;
  /** How long the daemon is watched at rest: so long that a single garbage collection does not decide. @default 30,000 */
  readonly restMilliseconds?: number;
};

const SECRET = "bench-only-webhook-secret";

/** Measures pushes to a local repository, after one that does not count. */
export async function measurePushes(place: PushPlace): Promise<Pushes> {
  const { work, source, file, count, restMilliseconds = 30_000 } = place;
  mkdirSync(join(work, "empty"), { recursive: true });
  git(source, "init", "--quiet", "--initial-branch=main");
  commit(source, "first");
  await using daemon = await startDaemon(place);
  const text = readFileSync(join(source, file), "utf8");
  const pushes: Pass[] = [];
  for (let nth = 0; nth <= count; nth += 1) {
    writeFileSync(join(source, file), text.replace(/^replicas: \d+$/m, `replicas: ${20 + nth}`));
    commit(source, `change ${nth}`);
    pushes.push(await daemon.push());
  }
  // As it was found: what is measured next expects everything to be in sync.
  writeFileSync(join(source, file), text);
  commit(source, "restore");
  await daemon.push();
  const before = daemon.busy();
  await wait(restMilliseconds);
  const restShare = (daemon.busy() - before) / restMilliseconds;
  return { pushes: pushes.slice(1), restShare, peakMegabytes: daemon.peakMegabytes() };
}

function commit(folder: string, message: string): void {
  git(folder, "add", "--all");
  git(folder, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "--quiet", "-m", message);
}

function git(folder: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
}

type Daemon = AsyncDisposable & {
  /** Tells of a push, and waits until its pass has ended. */
  readonly push: () => Promise<Pass>;
  readonly busy: () => number;
  readonly peakMegabytes: () => number;
};

async function startDaemon({ work, source, plane }: PushPlace): Promise<Daemon> {
  const config = join(work, "operator.json");
  const secret = join(work, "secret");
  const token = join(work, "token");
  writeFileSync(secret, SECRET);
  writeFileSync(token, plane.env.HOLDFAST_TOKEN);
  const source_ = { name: "bench", url: source, ref: "main", webhookSecretFile: secret };
  const target = { name: "bench", server: plane.env.HOLDFAST_SERVER, tokenFile: token, interval: 3600 };
  writeFileSync(config, JSON.stringify({ sources: [source_], targets: [target] }));
  const flags = ["--no-wait", "--sink", "file", "--listen", "127.0.0.1:0", "--allow-adopt", "--allow-privilege"];
  const args = ["watch", "-o", "text", "--config", config, "--state", join(work, "state"), ...flags];
  const child = spawn(DAEMON, args, {
    // The configuration lies outside of it.
    cwd: join(work, "empty"),
    env: daemonEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  try {
    const url = await listeningAt(child.stderr);
    const pid = child.pid ?? 0;
    let passes = await passesAfter(url, 0);
    return {
      push: async () => {
        const [began, busy] = [performance.now(), busyMilliseconds(pid)];
        const signature = createHmac("sha256", SECRET).update("{}").digest("hex");
        const headers = { "x-hub-signature-256": `sha256=${signature}`, "content-type": "application/json" };
        const { status } = await fetch(`${url}/hooks/bench`, { method: "POST", body: "{}", headers });
        if (status !== 202) throw new Error(`the webhook was answered with ${status}`);
        passes = await passesAfter(url, passes);
        return { milliseconds: performance.now() - began, busyMilliseconds: busyMilliseconds(pid) - busy };
      },
      busy: () => busyMilliseconds(pid),
      peakMegabytes: () => peakMegabytes(pid),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listeningAt(stderr: Readable): Promise<string> {
  const said: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    said.push(line);
    const [, url] = /^health and metrics on (http:\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    stderr.resume();
    return url;
  }
  throw new Error(`the daemon ended before it listened: ${said.join("\n")}`);
}

// Asked seldom, since an answer takes the daemon's own time.
const ASK_AGAIN_MS = 10;

async function passesAfter(url: string, before: number): Promise<number> {
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    // Each trigger counts on its own.
    const counts = metrics.matchAll(/^holdfast_passes_total\{[^}]*result="applied"[^}]*\} (\d+)$/gm);
    const count = counts.reduce((sum, [, one]) => sum + Number(one), 0);
    if (count > before) return count;
    await wait(ASK_AGAIN_MS);
  }
}
