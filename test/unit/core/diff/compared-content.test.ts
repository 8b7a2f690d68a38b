import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { contentOf, hasContentOf } from "../../../../src/core/diff/compared-content.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { prompt, service } from "../given.ts";

const kind = (type: string) => kindOf(type) ?? expect.unreachable(type);

test.each<[string, JsonObject, boolean]>([
  ["as it was sent", service({ replicas: 2 }), true],
  ["with what the control plane adds", service({ replicas: 2, service_account: "added", env: { A: "1" } }), true],
  ["with another value", service({ replicas: 3 }), false],
  ["without a field", service(), false],
  ["with another value beside an addition", service({ replicas: 3, service_account: "added" }), false],
])("live %s has what was sent: %j", (_, live, has) => {
  expect(hasContentOf(kind("service"), service({ replicas: 2 }), live)).toBe(has);
});

test("a number is a part of a version's identity, and a field of any other kind", () => {
  expect(contentOf(kind("chat_prompt"), prompt({ version: 2 }))).toEqual(prompt());
  expect(contentOf(kind("service"), service({ version: 2 }))).toEqual(service({ version: 2 }));
  expect(contentOf(kind("service"), undefined)).toBeUndefined();
});
