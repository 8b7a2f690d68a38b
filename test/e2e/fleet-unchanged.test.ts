import { expect, test } from "vitest";
import { parse } from "yaml";
import { answer, faultProxy } from "../support/fault-proxy.ts";
import { changed, fleetOf, isAt, keyText, statusPolls, targets } from "../support/fleet.ts";
import { team } from "../support/manifests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test.for([
  ["with digests", false],
  ["by lists", true],
] as const)(
  "%s, passes of a fleet are spared while nothing has changed, and see each change",
  async ([, byLists], { skip }) => {
    const postgres = await ownPostgres(skip);
    const proxy = await faultProxy(await serve());
    if (byLists) proxy.inject("getDigest", answer(403, { statusCode: 403, message: "not with this token" }));
    const { upstream, machine } = await fleetOf(postgres, proxy.server);
    const flags = ["--listen", "127.0.0.1:0"];
    const first = await machine(flags);
    const machines = [first, await machine(flags)];
    const urls = await Promise.all(
      machines.map(async ({ watch }) => (await watch.shows("stderr", /metrics on (\S+)/))[1] ?? ""),
    );
    const sparedBy = async (url: string): Promise<readonly number[]> => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return targets.map((target) =>
        Number(
          new RegExp(`^holdfast_unchanged_passes_total\\{target="${target}"\\} (\\d+)`, "m").exec(metrics)?.[1] ?? 0,
        ),
      );
    };
    const spared = async (): Promise<readonly number[]> => {
      const all = await Promise.all(urls.map(sparedBy));
      return targets.map((_, nth) => all.reduce((sum, counts) => sum + (counts[nth] ?? 0), 0));
    };
    const isSparedAgain = async (): Promise<void> => {
      const before = await spared();
      const isMore = async () => (await spared()).every((count, nth) => count > (before[nth] ?? 0));
      await expect.poll(isMore, { timeout: 120_000 }).toBe(true);
    };
    const begun = (await upstream.git("rev-parse", "HEAD")).trim();
    await expect.poll(async () => isAt(begun)(await first.status()), statusPolls).toBe(true);
    await isSparedAgain();
    // What it says of the target is what the pass before has said.
    const [status] = await first.status();
    expect(status).toMatchObject({ target: "a", sync: "Synced", condition: "Ready", counts: { unchanged: 1 } });
    expect(status?.lastPass).toMatchObject({ result: "applied", commit: begun });
    const writes = proxy.server.effects().length;
    const isDeclared = async () => {
      const { data } = await proxy.server.call("GET", "/api/svc/v1/teams");
      return !JSON.stringify(data).includes("drifted@example.com");
    };
    await proxy.server.call("PUT", "/api/svc/v1/teams", { manifest: parse(team("a", "drifted@example.com")) });
    await expect.poll(isDeclared, { timeout: 120_000 }).toBe(true);
    expect(proxy.server.effects().length).toBe(writes + 2);
    await isSparedAgain();
    const commit = await upstream.commit(changed("grace@example.com"));
    await expect.poll(async () => isAt(commit)(await first.status()), statusPolls).toBe(true);
    await isSparedAgain();
    expect(proxy.server.effects().length).toBe(writes + 2 + targets.length);
  },
);

test("a commit that only gives a target other paths is applied, although the commit was compared before", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const server = await serve();
  const upstream = await upstreamOf({
    "list.yaml": "- { name: one, path: a }\n",
    "t/a/team.yaml": team("first"),
    "t/b/team.yaml": team("second"),
  });
  const config = {
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [{ name: "{name}", each: { file: "list.yaml" }, paths: ["t/{path}"] }],
  };
  const operator = await operatorOf(config, server);
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" };
  operator.start(["watch", "--workers", "2", "--interval", "1"], env);
  const has = async (name: string) => {
    const { data } = await server.call("GET", "/api/svc/v1/teams");
    return JSON.stringify(data).includes(`"${name}"`);
  };
  await expect.poll(() => has("first")).toBe(true);
  // The next ones find nothing to do, and are kept.
  await operator.runHere(["reconcile"], env);
  await operator.runHere(["reconcile"], env);
  await upstream.commit({ "list.yaml": "- { name: one, path: b }\n" });
  await expect.poll(() => has("second"), { timeout: 120_000 }).toBe(true);
});
