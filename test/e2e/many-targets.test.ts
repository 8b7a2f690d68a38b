import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { targetName, useManyTargets } from "../soak/many-targets.ts";
import { temporaryFolder } from "../support/folder.ts";
import { notingGit } from "../support/git.ts";
import { team } from "../support/manifests.ts";
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

// `npm run soak -- many-targets` does the same with two hundred.
test.each([1, 2])("targets are applied, shown, retired, added and followed on %s control planes", async (planes) => {
  await useManyTargets({ targets: 14, planes });
});
