import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "../../src");

/** Names that every file of a folder exports, because a generated index or a loader expects them. */
const conventions: { readonly [name: string]: { readonly folder: string; readonly reason: string } } = {
  kind: { folder: "kinds/", reason: "the index of kinds is generated from the folder" },
  resource: { folder: "server/resources/", reason: "the index of resources is generated from the folder" },
  rules: { folder: "schema/rules/", reason: "the index of rules is generated from the folder" },
  sink: { folder: "engine/sinks/", reason: "the index of sinks is generated from the folder" },
  run: { folder: "commands/", reason: "a command is loaded by its name and then run" },
};

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

type Sources = ReadonlyMap<string, string>;

/** Names that two files declare and export, each with the files; re-exports declare nothing. */
function exportedTwice(sources: Sources): readonly string[] {
  const exported = [...sources].flatMap(([file, text]) =>
    [...new Set(Array.from(text.matchAll(DECLARATION), ([, name = ""]) => name))].map((name) => ({ file, name })),
  );
  return [...Map.groupBy(exported, ({ name }) => name)].flatMap(([name, places]) => {
    const convention = Object.hasOwn(conventions, name) ? conventions[name] : undefined;
    const others = places.filter(({ file }) => convention === undefined || !file.startsWith(convention.folder));
    const isUnique = others.length === 0 || places.length === 1;
    return isUnique ? [] : [`${name}: ${places.map(({ file }) => file).join(", ")}`];
  });
}

function readSources(): Sources {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    // Not in the repository: an earlier build may have left files there.
    .filter((file) => !file.startsWith("schema/generated/"))
    // Declarations of commands are named after their command.
    .filter((file) => !file.startsWith("commands/declarations/"));
  return new Map(files.map((file) => [file, readFileSync(join(SOURCES, file), "utf8")]));
}

test("an exported name means one thing: no two files of the sources export the same name", () => {
  const sources = readSources();
  expect(sources.size).toBeGreaterThan(300);
  expect(exportedTwice(sources)).toEqual([]);
});

test("a name that two files export is found, and one that a folder exports by convention is not", () => {
  const sources = new Map([
    ["core/a.ts", "export type Plan = 1;\nexport const x = 1;"],
    ["engine/b.ts", "export async function Plan() {}\nconst x = 2;\nexport type { Other } from './c.ts';"],
    ["kinds/team.ts", "export const kind: Kind = {};"],
    ["kinds/cluster.ts", "export const kind: Kind = {};"],
  ]);
  expect(exportedTwice(sources)).toEqual(["Plan: core/a.ts, engine/b.ts"]);
  expect(exportedTwice(new Map([...sources, ["core/kind.ts", "export function kind() {}"]]))).toHaveLength(2);
});
