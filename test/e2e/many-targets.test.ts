import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { targetName, useManyTargets } from "../soak/many-targets.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { notingGit } from "../support/git.ts";
import { team } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

// Each folder has two manifests.
const foldersOf = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => ["a", "b"].map((file) => [at, file] as const))
      .flat()
      .map(([at, file]) => [`clusters/${targetName(at)}/${file}.yaml`, team(`${targetName(at)}-${file}`)]),
  );

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

test("a target that names no control plane fails alone, and is shown before the eleven others", async () => {
  const server = await serve();
  const on = (at: number) => `- { name: ${targetName(at)}, on: ${at === 7 ? "none" : "s"} }\n`;
  const list = Array.from({ length: 12 }, (_, at) => on(at)).join("");
  const upstream = await upstreamOf({ ...foldersOf(12), "list.yaml": list });
  const operator = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    servers: [{ name: "s", url: server.url, tokenFile: "token" }],
    targets: [{ name: "{name}", each: { file: "list.yaml" }, server: "{on}", paths: ["clusters/{name}"] }],
  });
  await operator.write("token", server.token);
  const validated = await operator.runHere(["validate"]);
  expect(validated).toMatchObject({ code: 3 });
  const lines = validated.stdout.trimEnd().split("\n");
  expect(lines[0]).toMatch(/^t007 {2}failed: \S+:\d+:\d+: target t007 names the server/);
  expect(lines.filter((line) => line.endsWith("  2 manifests in 2 files: valid"))).toHaveLength(11);
  expect(lines.at(-1)).toBe("12 targets, 1 failed");
  const planned = await operator.runHere(["plan", "-o", "json"]);
  expect(planned).toMatchObject({ code: 3 });
  const { targets } = JSON.parse(planned.stdout);
  expect(
    targets.map(({ summary, error }: never) => (summary as { create: number } | undefined)?.create ?? error),
  ).toEqual(Array.from({ length: 12 }, (_, at) => (at === 7 ? expect.objectContaining({ code: "invalid" }) : 2)));
});

// `npm run soak -- many-targets` does the same with two hundred.
test.each([1, 2])("targets are applied, shown, retired, added and followed on %s control planes", async (planes) => {
  await useManyTargets({ targets: 14, planes });
});

test("what goes wrong with one of a few targets stands below its name", async () => {
  const targets = ["a", "b"].map((name) => ({ name, paths: [name] }));
  const { config, runThrough, write } = await operatorOf({ targets });
  await write("a/m.yaml", team("ml"));
  const { stdout } = await runThrough(onTerminal(100), ["validate", "--config", config, "--no-color"]);
  expect(stdout).toMatch(/Target a\s+1 manifest.*Target b\s+error: the path b does not exist/s);
});

test("a daemon goes on with its other targets where the token of one is missing or refused, and takes it up once it is right", async () => {
  const servers = [await serve(), await serve(), await serve()] as const;
  const upstream = await upstreamOf({ "a/m.yaml": team("ml"), "b/m.yaml": team("ml"), "c/m.yaml": team("ml") });
  const operator = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    servers: ["a", "b", "c"].map((name, at) => ({ name, url: servers[at]?.url, tokenFile: `${name}.token` })),
    targets: [{ name: "{dir}", each: "*", server: "{dir}", interval: 0.3 }],
  });
  await operator.write("a.token", "wrong");
  await operator.write("c.token", servers[2].token);
  const daemon = operator.start(["watch"]);
  const statuses = async () => JSON.parse((await operator.run(["status", "-o", "json"])).stdout).targets;
  await eventually("two are Stalled, and the third is written", async () => {
    const all: readonly { readonly condition: string; readonly reason: string | null }[] = await statuses();
    const shown = all.map(({ condition, reason }) => `${condition} ${reason}`).join(", ");
    return shown === "Stalled Unauthorized, Stalled Unauthorized, Ready null";
  });
  expect((await operator.run(["status", "--target", "b"])).stdout).toContain("  wanted    no commit\n");
  expect(daemon.stderr()).toContain("the token is not valid");
  expect(daemon.stderr()).toContain("b.token is missing or empty");
  await operator.write("a.token", servers[0].token);
  await operator.write("b.token", servers[1].token);
  await eventually("all are written", () => servers.every((server) => server.effects().length === 1));
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});
