import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { sink as exec } from "../../../../src/engine/sinks/exec.ts";
import type { Sink, SinkSettings } from "../../../../src/engine/token-sink.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { tokenProgram } from "../../../support/token-stores/program.ts";

async function opened(settings: SinkSettings, env = {}, clock = systemClock): Promise<Sink> {
  const folder = await temporaryFolder();
  const all = { PATH: process.env.PATH ?? "", ...env };
  return exec.open({ folder, server: "platform_443", settings, cwd: folder, env: all, ...machine, clock });
}

async function programOf(text: string): Promise<readonly string[]> {
  const path = join(await temporaryFolder(), "program");
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return [path];
}

const token = new Secret("CANARY-token");

describe("the sink exec", () => {
  test("gives the value on standard input alone, and the program none of the credentials of Holdfast", async () => {
    const { command, values, seen } = await tokenProgram();
    const sink = await opened({ command }, { HOLDFAST_TOKEN: "tfy-own-token", STORE_REGION: "eu-1" });
    await sink.check("virtual-account/ci");
    await sink.deliver("virtual-account/ci", token);
    expect(values()).toEqual(["CANARY-token"]);
    expect(seen()).toContain("create\nplatform_443/virtual-account/ci\n");
    expect(seen()).toContain("STORE_REGION=eu-1");
    expect(seen()).not.toMatch(/CANARY|tfy-own-token/);
  });

  test.each([
    { is: "is not there", command: ["/nowhere/program"], says: "/nowhere/program cannot be run (ENOENT)" },
    { is: "fails", text: "cat >&2; exit 7", says: /program create ended with the exit code 7$/ },
    {
      is: "prints without end",
      text: "[ $1 = create ] && exit 0; while :; do echo y; done",
      says: /read ended with no exit code/,
    },
    {
      is: "keeps what it should delete",
      text: '[ $1 = create ] && exec cat > "$0.value"; [ $1 = read ] && cat "$0.value"; exit 0',
      says: /does not delete/,
    },
  ])("fails its check where the program $is", async ({ command, text = "", says }) => {
    const sink = await opened({ command: command ?? (await programOf(text)) });
    await expect(sink.check("virtual-account/ci")).rejects.toThrow(says);
  });

  test("stops a program that does not end, with what it has started", async () => {
    const timeout = new AbortController();
    const started = await temporaryFolder();
    const command = await programOf(`sleep 1000 & echo $! > ${started}/pid; wait`);
    const sink = await opened({ command }, {}, { ...systemClock, timeout: () => timeout.signal });
    const checked = sink.check("virtual-account/ci");
    timeout.abort();
    await expect(checked).rejects.toThrow("create ended with no exit code");
  });

  test("is not opened without a command", async () => {
    await expect(opened({})).rejects.toThrow("nothing says which program stores tokens");
    await expect(opened({ command: [] })).rejects.toThrow("nothing says which program stores tokens");
  });
});
