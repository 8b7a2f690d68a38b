import { resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defaultLimits, type Limits } from "../../../src/source/limits.ts";
import type { ParsedFile, ReadOptions } from "../../../src/yaml/document.ts";
import { type Cost, ExactProcess } from "../../../src/yaml/exact/exact-process.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNode } from "../../support/process.ts";

const reading: ReadOptions = { format: "yaml", limits: defaultLimits, worthy: null };
const sound = "type: team\nname: t\nmembers: [a@example.com]\n";

/** Texts that only the exact parser can be asked about, and which keep it busy for seconds. */
const busy = `a: &x [${"b, ".repeat(60_000)}b]\n`;

const read = (reader: ExactProcess, text: string, how: ReadOptions = reading) => reader.read(Buffer.from(text), how);
const faultsOf = ({ faults }: ParsedFile) =>
  faults.map(({ code, summary, detail }) => `${code}: ${summary}. ${detail}`);

describe("a file that costs too much is refused, and the next one is read", () => {
  const refusals: readonly (readonly [string, Cost, string])[] = [
    [
      "B15: time",
      { milliseconds: 30, mebibytes: 64 },
      "too-slow: takes too long to be read. Split the file, or write it more simply.",
    ],
    [
      "B20: memory",
      { milliseconds: 60_000, mebibytes: 24 },
      "too-much-memory: needs too much memory to be read. Split the file, or write it more simply.",
    ],
  ];

  test.each(refusals)("%s", async (_, most, said) => {
    await using aside = new ExactProcess(most);
    const files = await Promise.all([read(aside, busy), read(aside, sound)]);
    expect(files.map(faultsOf)).toEqual([[said], []]);
    expect(files.map(({ documents }) => documents.map(({ value }) => value))).toEqual([
      [],
      [{ type: "team", name: "t", members: ["a@example.com"] }],
    ]);
  });

  test.each([1000, 2000, 3000, 5000])(
    "B14: %d levels of brackets, and no other file has their answer",
    async (depth) => {
      await using aside = new ExactProcess();
      const deep = `type: team\nname: deep\nenv: ${"[".repeat(depth)}${"]".repeat(depth)}\n`;
      const texts = [
        deep,
        ...["a", "b", "c"].map((name) => `type: team\nname: ${name}\nmembers: &all [x@example.com]\n`),
      ];
      const [first, ...others] = await Promise.all(texts.map((text) => read(aside, text)));
      const faults = [...(first?.faults ?? []), ...(first?.documents.flatMap((document) => document.faults) ?? [])];
      expect(faults.map(({ code }) => code)).toEqual(["too-deep"]);
      expect(others.map(({ documents }) => documents.map(({ value }) => value))).toMatchObject([
        [{ name: "a" }],
        [{ name: "b" }],
        [{ name: "c" }],
      ]);
    },
  );

  test("B30: a parser that fails in a way of its own", async () => {
    await using aside = new ExactProcess();
    // What no caller gives: the parser runs into it as it would into a fault of its own.
    const limits: Limits = JSON.parse("null");
    const files = await Promise.all([read(aside, sound, { ...reading, limits }), read(aside, sound)]);
    expect(files.map(faultsOf)).toEqual([
      [
        "unreadable: could not be read: the parser itself failed. " +
          "Please report it. Until then: Split the file, or write it more simply.",
      ],
      [],
    ]);
    expect(files[1]?.documents).toHaveLength(1);
  });
});

test("B15: files that were asked for while a process ended for too much time are read by the next", async () => {
  await using aside = new ExactProcess({ milliseconds: 100, mebibytes: 64 });
  const first = read(aside, busy);
  const others = [read(aside, busy), read(aside, sound), first.then(() => read(aside, sound))];
  const files = await Promise.all([first, ...others]);
  expect(files.map(({ faults }) => faults.map(({ code }) => code))).toEqual([["too-slow"], ["too-slow"], [], []]);
});

describe("a reader that is done with", () => {
  test("ends its process, and gives no answer any more", async () => {
    const aside = new ExactProcess();
    const reads = [read(aside, busy), read(aside, sound)];
    const ended = Promise.allSettled(reads);
    await aside[Symbol.asyncDispose]();
    expect((await ended).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(read(aside, sound)).rejects.toThrow("aborted");
  });

  test("keeps no process alive, nor does one that only waits for the next file", async () => {
    for (const last of ["await aside[Symbol.asyncDispose]();", ""]) {
      const child = await start(`
        const file = await aside.read(Buffer.from("a: &x 1"), ${JSON.stringify(reading)});
        console.log(JSON.stringify(file.documents[0].value));
        ${last}`);
      expect(await child.ended).toEqual({ code: 0, signal: null, stdout: '{"a":1}\n', stderr: "" });
    }
  });

  test("ends its process also where that does nothing any more and the owner is killed", async () => {
    const child = await start(`
      await aside.read(Buffer.from("a: &x 1"), ${JSON.stringify(reading)});
      const { pid } = process;
      console.log(readFileSync(\`/proc/\${pid}/task/\${pid}/children\`, "utf8"));
      setInterval(() => undefined, 1000);`);
    const worker = Number((await child.shows("stdout", /^\d+ $/mu))[0]);
    process.kill(worker, "SIGSTOP");
    onTestFinished(() => void (isAlive(worker) && process.kill(worker, "SIGKILL")));
    child.kill("SIGKILL");
    await child.ended;
    await expect.poll(() => isAlive(worker)).toBe(false);
  });
});

async function start(script: string) {
  const module = JSON.stringify(resolve("src/yaml/exact/exact-process.ts"));
  const before = `
    import { readFileSync } from "node:fs";
    import { ExactProcess } from ${module};
    const aside = new ExactProcess();`;
  return startNode(["--input-type=module", "--eval", `${before}\n${script}`], { cwd: await temporaryFolder() });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a text that has its turn after many others is read all the same", async () => {
  await using aside = new ExactProcess({ milliseconds: 2000, mebibytes: 64 });
  const texts = Array.from({ length: 20 }, (_, n) => `a: &x ${n}\n`);
  const files = await Promise.all(texts.map((text) => read(aside, text)));
  expect(files.map(({ documents }) => documents[0]?.value)).toEqual(texts.map((_, n) => ({ a: n })));
});
