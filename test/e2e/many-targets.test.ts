import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { notingGit } from "../support/git.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const nameOf = (at: number) => `t${String(at).padStart(3, "0")}`;

// Each folder has two manifests.
const foldersOf = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => ["a", "b"].map((file) => [at, file] as const))
      .flat()
      .map(([at, file]) => [`clusters/${nameOf(at)}/${file}.yaml`, team(`${nameOf(at)}-${file}`)]),
  );

type Shown = {
  readonly target: string;
  readonly sync: string;
  readonly condition: string;
  readonly appliedRevision: string;
};

const COUNT = 40;

const pattern = { name: "{dir}", each: "clusters/*" };

test("no target of a repository needs a git process of its own", async () => {
  const server = await serve();
  const counted = [2, 6].map(async (count) => {
    const upstream = await upstreamOf(foldersOf(count));
    const sources = [{ name: "platform", url: upstream.folder }];
    const { run } = await operatorOf({ sources, targets: [pattern] }, server);
    const log = join(await temporaryFolder(), "log");
    const env = { PATH: `${await notingGit(log, "begins")}:${process.env.PATH}`, HOLDFAST_CACHE: "on" };
    const commands: (readonly string[])[] = [];
    for (const command of ["validate", "plan"]) {
      writeFileSync(log, "");
      const ended = await run([command, "-o", "json"], env);
      expect(JSON.parse(ended.stdout).targets).toHaveLength(count);
      const noted = readFileSync(log, "utf8").replaceAll(/[0-9a-f]{40}|\/\S+/g, "");
      commands.push(noted.split("\n"));
    }
    return commands;
  });
  const [few, many] = await Promise.all(counted);
  expect(many).toEqual(few);
});

test("a state folder that cannot be made is an error of the operator's, which says where and why", async () => {
  const upstream = await upstreamOf(foldersOf(1));
  const { runHere } = await operatorOf({ sources: [{ name: "platform", url: upstream.folder }], targets: [pattern] });
  const ended = await runHere(["validate"], { HOLDFAST_STATE: "/proc/none" });
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain(
    "error: the repository of a source cannot be kept in /proc/none/sources/platform.git: ",
  );
  expect(ended.stderr).toContain("--state");
  expect(ended.stderr).not.toContain("fault of holdfast");
});

test.each([1, 2])("two targets are planned, applied, added and retired on %s control planes", async (count) => {
  const servers = await Promise.all(Array.from({ length: count }, () => serve()));
  const upstream = await upstreamOf(foldersOf(2));
  const names = servers.map((_, at) => nameOf(at));
  // The third one has the control plane of the first one.
  const items = [0, 1, 2].map((at) => `- { name: ${nameOf(at)}, on: ${names[at % count]} }\n`);
  await upstream.commit({ "list.yaml": items.slice(0, 2).join("") });
  const target = { name: "{name}", each: { file: "list.yaml" }, server: "{on}", paths: ["clusters/{name}"] };
  const { runHere, write } = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    servers: servers.map(({ url }, at) => ({ name: names[at], url, tokenFile: `${at}.token` })),
    targets: [target],
  });
  for (const [at, { token }] of servers.entries()) await write(`${at}.token`, token);
  const summaries = async () =>
    JSON.parse((await runHere(["plan", "-o", "json"])).stdout).targets.map(
      (one: { target: string; summary: { create: number } }) => [one.target, one.summary.create],
    );
  const apply = async (at: number) =>
    expect(await runHere(["apply", "--target", nameOf(at), "--yes"])).toMatchObject({ code: 0 });
  expect(await summaries()).toEqual([
    [nameOf(0), 2],
    [nameOf(1), 2],
  ]);
  for (const at of [0, 1]) await apply(at);
  expect(await runHere(["plan", "--detailed-exitcode"])).toMatchObject({ code: 0 });
  await upstream.git("rm", "--quiet", "-r", `clusters/${nameOf(1)}`);
  const before = servers.map((server) => server.effects().length);
  await upstream.commit({ "list.yaml": `${items[0]}${items[2]}`, [`clusters/${nameOf(2)}/a.yaml`]: team("later") });
  expect(await summaries()).toEqual([
    [nameOf(0), 0],
    [nameOf(2), 1],
  ]);
  await apply(2);
  expect(servers.map((server) => server.effects().length)).toEqual(
    before.map((effects, at) => effects + (at === 0 ? 1 : 0)),
  );
  const { targets } = JSON.parse((await runHere(["status", "-o", "json"])).stdout);
  expect(targets.map((one: { target: string; condition: string }) => [one.target, one.condition]).at(-1)).toEqual([
    nameOf(1),
    "Retired",
  ]);
  const orphans = await runHere(["orphans", "--target", nameOf(1), "-o", "json"]);
  expect(JSON.parse(orphans.stdout).orphans).toMatchObject([
    { identity: `team/${nameOf(1)}-a` },
    { identity: `team/${nameOf(1)}-b` },
  ]);
});

test("a daemon brings forty targets of two control planes in sync, and a commit is work for the targets that it touches", async () => {
  const servers = [await serve(), await serve()] as const;
  const upstream = await upstreamOf(foldersOf(COUNT));
  const on = (at: number) => `- { name: ${nameOf(at)}, on: s${at % 2} }\n`;
  const list = (numbers: readonly number[]) => ({ "list.yaml": numbers.map(on).join("") });
  const all = Array.from({ length: COUNT }, (_, at) => at);
  await upstream.commit(list(all));
  const source = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    servers: servers.map(({ url }, at) => ({ name: `s${at}`, url, tokenFile: `${at}.token` })),
    targets: [
      {
        ...{ name: "{name}", each: { file: "list.yaml" }, server: "{on}", paths: ["clusters/{name}"] },
        ...{ interval: 3600 },
      },
    ],
  });
  for (const [at, { token }] of servers.entries()) await source.write(`${at}.token`, token);
  const daemon = source.start(["watch", "--listen", "127.0.0.1:0"]);
  const [, url = ""] = await daemon.shows("stderr", /health and metrics on (\S+)/);
  const targets = async (): Promise<readonly Shown[]> =>
    JSON.parse(await (await fetch(`${url}/status`)).text()).targets;
  // What is asked too often keeps the daemon from its work.
  const seldom = { everyMs: 500, withinMs: 120_000 };
  await eventually("all are in sync", async () => (await targets()).every(({ sync }) => sync === "Synced"), seldom);
  const effects = () => servers.map((server) => server.effects().map(({ resource }) => resource));
  const created = effects();
  expect(created.map((each) => each.toSorted())).toEqual(
    [0, 1].map((of) =>
      all.filter((at) => at % 2 === of).flatMap((at) => [`team/${nameOf(at)}-a`, `team/${nameOf(at)}-b`]),
    ),
  );
  await upstream.git("rm", "--quiet", "-r", `clusters/${nameOf(7)}`);
  const commit = await upstream.commit({
    ...list([...all.filter((at) => at !== 7), COUNT]),
    [`clusters/${nameOf(5)}/a.yaml`]: `${team(`${nameOf(5)}-a`)}# Another text\n`,
    [`clusters/${nameOf(6)}/c.yaml`]: team("c"),
    [`clusters/${nameOf(COUNT)}/a.yaml`]: team("new"),
  });
  daemon.kill("SIGHUP");
  await eventually(
    "all are at the commit",
    async () => {
      const shown = await targets();
      const active = shown.filter(({ condition }) => condition !== "Retired");
      return active.length === COUNT && active.every((one) => one.sync === "Synced" && one.appliedRevision === commit);
    },
    seldom,
  );
  expect((await targets()).find(({ target }) => target === nameOf(7))?.condition).toBe("Retired");
  expect(effects().map((each, at) => each.slice(created[at]?.length))).toEqual([
    expect.arrayContaining(["team/c", "team/new"]),
    [],
  ]);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});
