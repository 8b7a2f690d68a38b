import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { describe, expect, type TestContext, test, vi } from "vitest";

vi.setConfig({ testTimeout: 180_000 });

const root = resolve(import.meta.dirname, "../..");

// Of the runs that end by themselves one has the project `postgres` too, whose global set-up starts another program; so has each that is ended.
const withProgram = ["measured", "postgres"];

describe("the exit code of the runner says that", () => {
  test.concurrent.for([
    ["failing-hook", "a hook has failed", "a hook that fails", withProgram],
    ["unhandled-rejection", "a rejection was not handled", "a rejection that nobody handles", ["measured"]],
    ["broken-file", "a file could not be loaded", "a file that cannot be loaded", ["measured"]],
    ["dying-worker", "a worker has died", "SIGKILL", ["measured"]],
    ["missing", "no test was found", "No test files found", ["measured"]],
  ] as const)("%s: %s", async ([red, _, said, projects], context) => {
    const runner = startRunner(red, projects, context);
    await once(runner.child, "close");
    expect(runner.output()).toContain(said);
    expect(runner.child).toMatchObject({ exitCode: 1, signalCode: null });
  });

  test.concurrent.for(["SIGINT", "SIGTERM", "SIGKILL"] as const)("it was ended by %s", async (signal, context) => {
    const runner = startRunner("endless-test", withProgram, context);
    await runner.said("the endless test runs");
    runner.child.kill(signal);
    await once(runner.child, "close");
    const { exitCode, signalCode } = runner.child;
    expect(exitCode !== 0 || signalCode !== null).toBe(true);
  });
});

function startRunner(
  red: string,
  projects: readonly string[],
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
) {
  const args = ["node_modules/vitest/vitest.mjs", "run", ...projects.flatMap((name) => ["--project", name])];
  // Of its own process group, so that its workers can be ended with it.
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, RED_TEST: red },
  });
  let output = "";
  const saying = Promise.withResolvers<void>();
  let awaited: string | null = null;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (awaited !== null && output.includes(awaited)) saying.resolve();
    });
  }
  child.once("close", () => saying.reject(new Error(output)));
  saying.promise.catch(() => {});
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // All of them have ended.
    }
  });
  return {
    child,
    output: () => output,
    said: (text: string): Promise<void> => {
      awaited = text;
      if (output.includes(text)) saying.resolve();
      return saying.promise;
    },
  };
}
