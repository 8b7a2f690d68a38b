import { expect, test } from "vitest";
import { registryOnlyOf } from "../../../../src/core/plan/registry-only.ts";

const kind = "chat_prompt";
const nobody: ReadonlySet<string> = new Set();

test("what another target declares, by number or by name, is not held by the registry alone", () => {
  const both = ["chat_prompt/registry/one@1", "chat_prompt/registry/two@1", "chat_prompt/registry/two@2"];
  const elsewhere = new Set(["chat_prompt/registry/one", "chat_prompt/registry/two@2"]);
  expect(registryOnlyOf(kind, both, elsewhere)).toEqual({ kind, count: 1, identities: ["chat_prompt/registry/two@1"] });
  expect(registryOnlyOf(kind, both.slice(0, 1), elsewhere)).toBeNull();
});

test("ten versions are named in the order of their names and numbers, and all are counted", () => {
  const versions = Array.from({ length: 11 }, (_, at) => `chat_prompt/registry/b@${11 - at}`);
  const found = registryOnlyOf(kind, [...versions, "chat_prompt/registry/b", "chat_prompt/registry/a@12"], nobody);
  const numbers = ["a@12", "b", ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => `b@${number}`)];
  expect(found).toEqual({ kind, count: 13, identities: numbers.map((end) => `chat_prompt/registry/${end}`) });
});

test("without a list of its versions it is not known what the registry holds", () => {
  expect(registryOnlyOf(kind, null, nobody)).toEqual({ kind, count: null, identities: [] });
});
