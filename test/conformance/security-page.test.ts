import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/security.md", "utf8");

type ConfigSchema = { readonly properties: { readonly [key: string]: { readonly "x-class": string } } };

test("the page on security says of every configuration key whose it is", () => {
  const { properties }: ConfigSchema = JSON.parse(readFileSync("schemas/config/holdfast.json", "utf8"));
  const said = page.matchAll(/^\| `(\w+)` \| (repository|operator) \|$/gm).map(([, key, owner]) => [key, owner]);
  expect([...said]).toEqual(Object.entries(properties).map(([key, schema]) => [key, schema["x-class"]]));
});

test("the page on security says how to report a weakness", () => {
  expect(page).toContain("(../SECURITY.md)");
  expect(readFileSync("SECURITY.md", "utf8")).toContain("in private");
});
