import { expect } from "vitest";
import { startCountingProxy } from "../support/counting-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { type Files, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** How many targets of one repository there are, and on how many control planes. */
export type ManyTargets = { readonly targets: number; readonly planes: number };

type Shown = {
  readonly target: string;
  readonly sync: string;
  readonly condition: string;
  readonly appliedRevision: string;
};

/** More than the requests of one target for one commit, and far fewer than one request for each of the others. */
const MOST_REQUESTS = 12;

/** The name of a target of these tests. */
export function targetName(at: number): string {
  return `t${String(at).padStart(3, "0")}`;
}

/** The list that says which target is on which control plane. */
function listOf(numbers: readonly number[], planes: number): Files {
  return { "list.yaml": numbers.map((at) => `- { name: ${targetName(at)}, on: s${at % planes} }\n`).join("") };
}

/**
 * Applies targets one after the other, plans and shows them all, retires one, adds one, and lets a daemon follow a commit that
 * touches one of them.
 */
export async function useManyTargets({ targets: count, planes }: ManyTargets): Promise<void> {
  const servers = await Promise.all(Array.from({ length: planes }, () => serve()));
  const proxies = await Promise.all(servers.map((server) => startCountingProxy(server)));
  const numbers = Array.from({ length: count }, (_, at) => at);
  const upstream = await upstreamOf({
    ...listOf(numbers, planes),
    ...Object.fromEntries(numbers.map((at) => [`clusters/${targetName(at)}/a.yaml`, team(`${targetName(at)}-a`)])),
  });
  const operator = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder, webhookSecretFile: "webhook.secret" }],
    servers: proxies.map(({ url }, at) => ({ name: `s${at}`, url, tokenFile: `${at}.token` })),
    targets: [
      {
        ...{ name: "{name}", each: { file: "list.yaml" }, server: "{on}", paths: ["clusters/{name}"] },
        ...{ interval: 3600 },
      },
    ],
  });
  await operator.write("webhook.secret", "secret\n");
  for (const [at, { token }] of servers.entries()) await operator.write(`${at}.token`, token);
  const shown = async (args: readonly string[]) => JSON.parse((await operator.runHere([...args, "-o", "json"])).stdout);
  const effects = (): readonly string[] =>
    servers.flatMap((server) => server.effects().map(({ resource }) => resource));

  for (const at of numbers) {
    expect(await operator.runHere(["apply", "--target", targetName(at), "--yes"])).toMatchObject({ code: 0 });
  }
  expect(effects().toSorted()).toEqual(numbers.map((at) => `team/${targetName(at)}-a`));
  const applied = effects().length;
  const plan = await operator.runHere(["plan", "--detailed-exitcode"]);
  expect(plan).toMatchObject({ code: 0 });
  expect(plan.stdout.match(/nothing to do, 1 unchanged/g)).toHaveLength(count);
  const before: readonly Shown[] = (await shown(["status"])).targets;
  expect(before.map(({ target, condition }) => [target, condition])).toEqual(
    numbers.map((at) => [targetName(at), "Ready"]),
  );

  const [gone, touched] = [targetName(1), targetName(2)];
  await upstream.git("rm", "--quiet", "-r", `clusters/${gone}`);
  await upstream.commit({
    ...listOf([...numbers.filter((at) => at !== 1), count], planes),
    [`clusters/${targetName(count)}/a.yaml`]: team("new"),
  });
  expect(await operator.runHere(["apply", "--target", targetName(count), "--yes"])).toMatchObject({ code: 0 });
  expect(
    effects()
      .toSorted()
      .filter((one) => one === "team/new"),
  ).toHaveLength(1);
  expect(effects()).toHaveLength(applied + 1);
  const after: readonly Shown[] = (await shown(["status"])).targets;
  expect(after.filter(({ condition }) => condition === "Retired").map(({ target }) => target)).toEqual([gone]);
  expect(after).toHaveLength(count + 1);
  expect((await shown(["orphans", "--target", gone])).orphans).toMatchObject([{ identity: `team/${gone}-a` }]);

  const daemon = operator.start(["watch", "--listen", "127.0.0.1:0"]);
  const [, url = ""] = await daemon.shows("stderr", /health and metrics on (\S+)/);
  const followed = (commit: string) =>
    eventually(
      `all are at ${commit}`,
      async () => {
        const { targets }: { targets: readonly Shown[] } = JSON.parse(await (await fetch(`${url}/status`)).text());
        const active = targets.filter(({ condition }) => condition !== "Retired");
        return (
          active.length === count && active.every((one) => one.sync === "Synced" && one.appliedRevision === commit)
        );
      },
      { everyMs: 500, withinMs: 600_000 },
    );
  await followed((await upstream.git("rev-parse", "HEAD")).trim());
  const asked = proxies.map(({ requests }) => requests().length);
  const commit = await upstream.commit({ [`clusters/${touched}/b.yaml`]: team("touched") });
  const pushed = { method: "POST", headers: { "x-gitlab-token": "secret" } };
  expect((await fetch(`${url}/hooks/platform`, pushed)).status).toBe(202);
  await followed(commit);
  const requests = proxies.flatMap((proxy, at) => proxy.requests().slice(asked[at]));
  expect(requests.filter((one) => one.startsWith("PUT")).length).toBeGreaterThan(0);
  expect(requests.length).toBeLessThan(MOST_REQUESTS);
  const created = numbers.map((at) => `team/${targetName(at)}-a`);
  expect(effects().toSorted()).toEqual([...created, "team/new", "team/touched"].toSorted());
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
}
