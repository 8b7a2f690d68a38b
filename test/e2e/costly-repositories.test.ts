import { expect, test } from "vitest";
import { commitBomb, commitNames, numbered } from "../support/costly-repository.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** How long a daemon may take to answer a probe or a signal, in milliseconds. */
const ANSWERS_WITHIN = 1000;

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

/** Asks for the health of a daemon that often, one after the other; answers the longest time of a reply. */
async function longestProbe(url: string, count: number): Promise<number> {
  let longest = 0;
  for (let nth = 0; nth < count; nth += 1) {
    const asked = performance.now();
    const { status } = await fetch(`${url}/healthz`);
    expect(status).toBe(200);
    longest = Math.max(longest, performance.now() - asked);
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
  expect(performance.now() - asked).toBeLessThan(ANSWERS_WITHIN);
});
