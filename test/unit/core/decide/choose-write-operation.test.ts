import { expect, test } from "vitest";
import { chooseWriteOperation } from "../../../../src/core/decide/choose-write-operation.ts";
import type { Live } from "../../../../src/core/live.ts";
import { kindOf } from "../../../../src/kinds/index.ts";

const group = kindOf("secret-group");
const PRESENT: Live = {
  state: "present",
  row: { key: "db", id: "1", manifest: { type: "secret-group", name: "db" }, stamp: null },
};
const ABSENT: Live = { state: "absent" };
const UNKNOWN: Live = { state: "unknown", reason: "no-read" };
const granted = { collaborators: [{ subject: "team:ml", role_id: "secret-group-user" }] };

const chosen = (live: Live, { lacks = "", manifest = {} }: { lacks?: string; manifest?: object } = {}) => {
  if (group === undefined) throw new TypeError("no kind");
  const capabilities = { has: (name: string) => name !== lacks, registers: null };
  return chooseWriteOperation(group, live, capabilities, { ...manifest })?.operation ?? null;
};

test("what is known to be absent is created, and what may exist is created only where nothing else is possible", () => {
  expect([chosen(ABSENT), chosen(PRESENT), chosen(UNKNOWN)]).toEqual([
    "createSecretGroup",
    "putSecretGroup",
    "putSecretGroup",
  ]);
  const lacks = "putSecretGroup";
  expect([chosen(ABSENT, { lacks }), chosen(PRESENT, { lacks }), chosen(UNKNOWN, { lacks })]).toEqual([
    "createSecretGroup",
    null,
    "createSecretGroup",
  ]);
});

test("an operation that cannot write all that is declared is not used", () => {
  expect(chosen(ABSENT, { manifest: granted })).toBe("putSecretGroup");
  expect(chosen(ABSENT, { manifest: granted, lacks: "putSecretGroup" })).toBeNull();
});
