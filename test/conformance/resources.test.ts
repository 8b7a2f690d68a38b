import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { replySchemas } from "../../scripts/generate/openapi/component-schemas.ts";
import { operations } from "../../src/contract/operations.ts";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { resources } from "../../src/server/resources/index.ts";
import { kindsNamedIn } from "../support/kinds-named.ts";

const SERVER = join(import.meta.dirname, "../../src/server");

const folder = readdirSync(join(SERVER, "resources")).filter((name) => name !== "index.ts");
const kinds = [...new Set([...folder.map((name) => basename(name, ".ts")), ...manifestTypes])];

const kindsIn = (code: string) => kindsNamedIn(code, kinds);

test("a kind is found where code names it, and not in a comment", () => {
  expect(kindsIn('case "team":')).toEqual(["team"]);
  expect(kindsIn("`cluster/$" + "{name}`")).toEqual(["cluster"]);
  expect(kindsIn('const subject = "team:everyone";')).toEqual(["team"]);
  expect(kindsIn('// as in "team"\n/** "team" */ const teams = "teams";')).toEqual([]);
});

test("no file of the server names a kind, save those of the resource itself", () => {
  const others = readdirSync(SERVER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => !file.startsWith("resources/") && !file.startsWith("database/migrations"));
  const naming = others.flatMap((file) =>
    kindsIn(readFileSync(join(SERVER, file), "utf8")).map((kind) => `${file}: ${kind}`),
  );
  expect(others.length).toBeGreaterThan(50);
  expect(naming).toEqual([]);
});

test("each operation belongs to one resource, and each file and folder is one", () => {
  const served = resources.flatMap((resource) => resource.operations.map(({ name }) => name));
  expect(served.toSorted()).toEqual(Object.keys(operations).toSorted());
  expect(resources).toHaveLength(folder.length);
});

test("every reply of an operation has a schema", () => {
  const answered = resources.flatMap((resource) =>
    resource.operations.flatMap(({ description }) => description.replySchema ?? []),
  );
  expect(answered.filter((name) => !Object.hasOwn(replySchemas, name))).toEqual([]);
});
