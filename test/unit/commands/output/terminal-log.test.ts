import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Flags } from "../../../../src/commands/flags/flags.ts";
import { terminalLog } from "../../../../src/commands/output/terminal-log.ts";
import { runnerCommandsIn } from "../../../support/runner-commands.ts";
import { terminalOf } from "../terminal.ts";

function logged(flags: Flags, say: (log: ReturnType<typeof terminalLog>) => void): string {
  let text = "";
  const { terminal } = terminalOf({ cwd: "/" });
  const stderr = new PassThrough().setEncoding("utf8").on("data", (line: string) => {
    text += line;
  });
  say(terminalLog({ args: [], flags, terminal: { ...terminal, stderr } }));
  return text;
}

test("a log line is text where stderr is text, whether that is a terminal or not", () => {
  const say = (log: ReturnType<typeof terminalLog>) => log.warn({ name: "a" }, "the lease ends");
  expect(logged({}, say)).toMatch(/^(?!\{).*the lease ends/);
  expect(JSON.parse(logged({ logFormat: "json" }, say)).msg).toBe("the lease ends");
});

test("S44 a log line holds no command to a CI runner, and as JSON still says the same", () => {
  const piece = fc.constantFrom(
    "::error::",
    "##[a]",
    "##vso[a]b",
    "\n",
    " ",
    "#",
    ":",
    "section_end:1:a",
    "\\",
    '"',
    "a",
  );
  const nasty = fc.array(piece, { maxLength: 6 }).map((all) => all.join(""));
  fc.assert(
    fc.property(nasty, (text) => {
      const say = (log: ReturnType<typeof terminalLog>) => log.warn({ name: text, err: new Error(text) }, text);
      const json = logged({ logFormat: "json" }, say);
      expect(runnerCommandsIn(json)).toEqual([]);
      expect(JSON.parse(json)).toMatchObject({ msg: text, name: text, err: { message: text } });
      expect(runnerCommandsIn(logged({ logFormat: "pretty" }, say))).toEqual([]);
    }),
  );
});
