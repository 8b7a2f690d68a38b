import { Command } from "commander";
import { expect, test } from "vitest";
import { flags } from "../../../../src/commands/flags/flags.ts";
import { wantsJson } from "../../../../src/commands/flags/raw-command-line.ts";
import { allOutputs, stdoutFormat } from "../../../../src/render/output-format.ts";

function outputsOf(...args: readonly string[]) {
  const command = new Command().addOption(flags.planOutput.option()).exitOverride();
  command.configureOutput({ writeErr: () => {} });
  return command.parse([...args], { from: "user" }).opts<{ output?: Parameters<typeof allOutputs>[0] }>().output;
}

test("without an output of its own stdout gets text", () => {
  expect(allOutputs(outputsOf())).toEqual([{ format: "text", file: null }]);
  expect(allOutputs(outputsOf("-o", "json=plan.json", "-o", "github"))).toEqual([
    { format: "text", file: null },
    { format: "json", file: "plan.json" },
    { format: "github", file: null },
  ]);
  expect(stdoutFormat(outputsOf("-o", "github", "-o", "markdown"))).toBe("markdown");
});

test("of several forms for stdout, and of several for one file, the last counts", () => {
  expect(outputsOf("-o", "json", "-o", "markdown")).toEqual([{ format: "markdown", file: null }]);
  expect(outputsOf("-o", "json=a=b", "--output=markdown=a=b")).toEqual([{ format: "markdown", file: "a=b" }]);
  expect(outputsOf("-otext,json=a,github")).toEqual([
    { format: "text", file: null },
    { format: "json", file: "a" },
    { format: "github", file: null },
  ]);
});

test.each(["yaml", "mermaid", "json=", "github=file", "=file", ""])("-o %s is refused", (text) => {
  expect(() => outputsOf("-o", text)).toThrow(/Allowed choices|file/);
});

test("JSON is wanted where it goes to stdout", () => {
  expect(wantsJson(["plan", "-o", "json=plan.json"], {})).toBe(false);
  expect(wantsJson(["plan", "-o", "json", "-o", "markdown=a.md", "-o", "github"], {})).toBe(true);
  expect(wantsJson(["plan", "-o", "json", "-o", "text"], {})).toBe(false);
  expect(wantsJson(["plan"], { HOLDFAST_OUTPUT: "json,markdown=a.md" })).toBe(true);
});
