import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorCodes } from "../../scripts/generate/openapi/error-codes.ts";
import { exitCodes } from "../../src/core/errors.ts";
import { kinds } from "../../src/kinds/index.ts";
import { program } from "../support/command-line.ts";

const readme = readFileSync("README.md", "utf8");

/** The first cells of the rows of the table under a heading, without their code marks. */
function firstCells(heading: string): readonly string[] {
  const [, section = ""] = readme.split(`\n## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  return text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("|---"))
    .map((line) => line.split(" | ")[0]?.replace(/^\| |`/g, "") ?? "");
}

describe("the README", () => {
  it("names every kind, and none that is not there", () => {
    const named = firstCells("Kinds")
      .slice(1)
      .flatMap((cell) => cell.split(", "))
      .map((cell) => cell.split(" ")[0]);
    expect(named.toSorted()).toEqual(kinds.map(({ type }) => type).toSorted());
  });

  it("names every exit code, and none that is not there", () => {
    const named = firstCells("Exit codes").slice(1).map(Number);
    expect(named).toEqual([0, 2, ...Object.values(exitCodes)].toSorted((a, b) => a - b));
  });

  it.each(program.commands.map((command) => [command.name(), command] as const))("names the command %s", (name) => {
    expect(firstCells("Commands").some((cell) => cell.split(" ")[0] === name)).toBe(true);
  });

  it("names every flag, and none that is not there", () => {
    const [, section = ""] = readme.split("\n## Commands\n");
    const [text = ""] = section.split("\n## ");
    const named = new Set(text.match(/--[a-z][a-z-]*/g));
    const flags = new Set(program.commands.flatMap(({ options }) => options.map(({ long }) => long ?? "")));
    expect({ missing: flags.difference(named), unknown: named.difference(flags) }).toEqual({
      missing: new Set(),
      unknown: new Set(),
    });
  });
});

describe("the reference of the control plane", () => {
  it("lists every error code that its server may answer, and none that is not there", () => {
    const files = globSync("src/{server,http}/**/*.ts", { exclude: ["**/generated/**"] });
    const code = files.map((file) => readFileSync(file, "utf8")).join("\n");
    const constants = new Map(
      Array.from(code.matchAll(/const ([A-Z_]+) = "([\w-]+)"/g), ([, name, text]) => [name, text]),
    );
    const given = [
      ...Array.from(code.matchAll(/(?:new HttpError|detailed)\(\s*\d+,\s*("[\w-]+"|[A-Z_]+)/g), ([, one = ""]) => one),
      ...Array.from(code.matchAll(/\bconflict\(\s*("[\w-]+")/g), ([, one = ""]) => one),
      // What the framework and Node's parser refuse.
      ...Array.from(
        code.matchAll(/\[(?:\d{3}, "[^"]*", )?("[\w-]+")(?:, "[^"]*")?\],?$/gm),
        ([, one = ""]) => one,
      ).filter((one) => /"(?:request-timeout|path-too-long|not-json|headers-too-large)"/.test(one)),
    ].map((one) => (one.startsWith('"') ? one.slice(1, -1) : constants.get(one)));
    // A template, and what only a daemon answers.
    const answered = new Set([...given, "stale-fencing-token", "unknown-fencing-token"]);
    answered.delete("too-many-requests");
    const listed = new Set<string | undefined>(Object.keys(errorCodes));
    expect({ missing: answered.difference(listed), unknown: listed.difference(answered) }).toEqual({
      missing: new Set(),
      unknown: new Set(),
    });
  });
});

describe("the decisions", () => {
  const pages = globSync("docs/decisions/*.md").toSorted();

  it("are numbered without a gap, and each says why, what and at what cost in at most 40 lines", () => {
    expect(pages.map((page) => Number(/(\d{3})-[a-z0-9-]+\.md$/.exec(page)?.[1]))).toEqual(
      pages.map((_, nth) => nth + 1),
    );
    for (const page of pages) {
      const text = readFileSync(page, "utf8");
      expect(text.split("\n").length, page).toBeLessThanOrEqual(41);
      expect(Array.from(text.matchAll(/^## (.+)$/gm), ([, heading]) => heading)).toEqual([
        "Why",
        "What",
        "What it costs",
      ]);
    }
  });

  it("name files and functions that exist", () => {
    const named = pages.flatMap((page) => readFileSync(page, "utf8").match(/`(?:src|test|schemas)\/[^`]*`/g) ?? []);
    const absent = named.map((path) => path.replaceAll("`", "")).filter((path) => !existsSync(path));
    expect(absent).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });
});
