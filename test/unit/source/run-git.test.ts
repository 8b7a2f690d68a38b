import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runGit } from "../../../src/source/remote/run-git.ts";
import { temporaryFolder } from "../../support/folder.ts";

/** The environment of a `git` that is this script of the shell. */
async function gitThat(script: string) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { folder, env: { PATH: `${join(folder, "bin")}:${process.env.PATH}` } };
}

const signal = AbortSignal.timeout(120_000);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function allEnd(pids: readonly number[]) {
  return expect.poll(() => pids.filter(isAlive), { timeout: 60_000 }).toEqual([]);
}

test("git gets its input, and its output and exit code are returned, whatever signal ends it", async () => {
  const { folder, env } = await gitThat('cat; echo "$2" >&2; exit 3');
  const given = { folder, env, signal, input: ["in", Buffer.from("put\n")] };
  expect(await runGit(["a", "b c"], given)).toEqual({ code: 3, stdout: "input\n", stderr: "b c\n", isTooMuch: false });
  const killed = await gitThat("kill -KILL $$");
  expect((await runGit([], { ...killed, signal })).code).toBe(137);
  await expect(runGit([], { folder, env: { PATH: "/nonexistent" }, signal })).rejects.toThrow("spawn git ENOENT");
});

test("S82 git is stopped when it prints messages without end", async () => {
  const { folder, env } = await gitThat("echo $$ >&2; exec yes remote: flood >&2");
  const { code, stderr, isTooMuch } = await runGit([], { folder, env, signal });
  expect({ code, isTooMuch }).toEqual({ code: null, isTooMuch: true });
  expect(stderr.length).toBeLessThanOrEqual(4 * 1024 * 1024);
  await allEnd([Number.parseInt(stderr, 10)]);
});

test("S82 a stop ends git and what git has started, also what does not listen", async () => {
  const { folder, env } = await gitThat("trap '' TERM; sleep 1000 & echo $$ $!; while :; do wait; done");
  const stopping = new AbortController();
  let pids: readonly number[] = [];
  const take = (part: Buffer): void => {
    pids = part.toString().trim().split(" ").map(Number);
    stopping.abort(new Error("stopped"));
  };
  await expect(runGit([], { folder, env, signal: stopping.signal, take })).rejects.toThrow("stopped");
  expect(pids).toHaveLength(2);
  await allEnd(pids);
});

test("S82 git and what it has started end with a process that is killed", async () => {
  const { folder, env } = await gitThat("trap '' TERM HUP PIPE; sleep 1000 & echo $$ $!; while :; do wait; done");
  const module = resolve(import.meta.dirname, "../../../src/source/remote/run-git.ts");
  const run = { folder, env };
  const parent = `import { runGit } from ${JSON.stringify(module)};
    const signal = new AbortController().signal;
    await runGit([], { ...${JSON.stringify(run)}, signal, take: (part) => process.stdout.write(part) });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", parent], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [printed] = await once(child.stdout, "data");
  const pids = String(printed).trim().split(" ").map(Number);
  expect(pids.filter(isAlive)).toHaveLength(2);
  child.kill("SIGKILL");
  await allEnd(pids);
});
