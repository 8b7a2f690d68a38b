import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/contract/json.ts";
import { pointerIn, redactPointer, writtenValueAt } from "../../../../src/core/diff/pointer.ts";
import { shapeOf } from "../given.ts";

const written: JsonObject = { replicas: 2, ports: [null, { port: 90 }, { port: 80 }], env: { "a/b": "1" } };
const live: JsonObject = { ports: [{ port: 70 }], service_account: "x", env: { "a/b": "2" } };

test.each<[readonly string[], string]>([
  [[], ""],
  [["replicas"], "/replicas"],
  [["env", "a/b"], "/env/a~1b"],
  [["ports", "80:TCP", "port"], "/ports/2/port"],
  // Only the second value has these.
  [["service_account"], "/service_account"],
  [["ports", "70:TCP", "port"], "/ports/0/port"],
  // Neither has these: the path is that of the first, as far as it has one.
  [["ports", "80:TCP", "host"], "/ports/2/host"],
  [["ports", "60:TCP", "port"], "/ports/60:TCP/port"],
  [["env", "c", "d"], "/env/c/d"],
  [["replicas", "min_replicas"], "/replicas/min_replicas"],
  [["env", "toString"], "/env/toString"],
])("the path %j is found at %s", (tokens, pointer) => {
  expect(pointerIn(shapeOf("service"), [written, live], tokens)).toBe(pointer);
});

test("a list that no schema knows has no named items", () => {
  expect(pointerIn({ is: "free" }, [["a"]], ["0"])).toBe("/0");
  expect(pointerIn({ is: "free" }, [["a"], { 0: "b" }], ["0", "x"])).toBe("/0/x");
});

test.each<[readonly string[], Json | undefined]>([
  [[], written],
  [["ports", "1", "port"], 90],
  [["ports", "0"], null],
  [["ports", "3"], undefined],
  [["ports", "x1"], undefined],
  [["ports", "1x"], undefined],
  [["ports", "length"], undefined],
  [["ports", "10"], undefined],
  [["env", "a/b"], "1"],
  [["env", "toString"], undefined],
  [["replicas", "toFixed"], undefined],
  [["none", "at", "all"], undefined],
])("the written value at %j is %j", (tokens, value) => {
  expect(writtenValueAt(written, tokens)).toEqual(value);
});

test("a name that is a secret is masked in a path", () => {
  expect(redactPointer("/env/postgres:~1~1app:CANARY@db~1app")).toBe("/env/(sensitive)");
  expect(redactPointer("/env/a~1b")).toBe("/env/a~1b");
});
