import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commitBomb, commitNames, numbered } from "../support/costly-repository.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** How long a daemon may compute before it answers a probe, in milliseconds. */
const ANSWERS_WITHIN = 1000;
/** Less than a daemon that is asked to end gives to what is under way, and far more than it takes on a busy machine. */
const ENDS_WITHIN = 20_000;

const costly: readonly { readonly name: string; readonly commit: (root: string) => Promise<string> }[] = [
  {
    name: "60,000 symbolic links",
    commit: (root) =>
      commitNames(
        root,
        "120000",
        "elsewhere",
        numbered(60_000, (nth) => `${nth}.yaml`),
      ),
  },
  { name: "one file that a tree names 10^8 times", commit: (root) => commitBomb(root, 8) },
  {
    name: "one file of 70 MB under 20,000 names",
    commit: (root) =>
      commitNames(
        root,
        "100644",
        "# x\n".repeat(17_500_000),
        numbered(20_000, (nth) => `${nth}.yaml`),
      ),
  },
];

/** The milliseconds that the main thread of a process has computed. */
function computedMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  return 10 * (Number(user) + Number(system));
}

/**
 * Asks for the health of a daemon that often, one after the other; answers the longest time that it computed before it
 * answered, which is no longer where other work delays it.
 */
async function longestProbe(url: string, count: number): Promise<number> {
  const { daemon } = JSON.parse(await (await fetch(`${url}/status`)).text());
  let longest = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const before = computedMs(daemon.pid);
    const { status } = await fetch(`${url}/healthz`);
    expect(status).toBe(200);
    longest = Math.max(longest, computedMs(daemon.pid) - before);
  }
  return longest;
}

test.each(costly)("S81 a daemon that reads $name answers probes and SIGTERM within a second", async ({ commit }) => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
    },
    server,
  );
  const daemon = operator.start(["watch", "--listen", "127.0.0.1:0"]);
  await daemon.shows("stdout", /1 created/);
  const [, url = ""] = await daemon.shows("stderr", /on (http:\S+)\n/);
  const costs = await commit(upstream.folder);
  await upstream.git("update-ref", "refs/heads/main", costs);
  daemon.kill("SIGHUP");
  await daemon.shows("stderr", new RegExp(`main is at ${costs.slice(0, 12)}`));
  expect(await longestProbe(url, 200)).toBeLessThan(ANSWERS_WITHIN);
  const asked = performance.now();
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(performance.now() - asked).toBeLessThan(ENDS_WITHIN);
});
