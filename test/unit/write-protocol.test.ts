import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { check } from "../support/model-checker.ts";
import { actionsInCode, type Safeguards, withLeases, withStateLock, writeProtocol } from "../support/write-protocol.ts";

const faults = { crashes: 2, losses: 2, expiries: 2 };
const twice = "the same content was written 2 times";

describe("two writers, two crashes, two lost packets and two leases that expire double nothing, lose nothing and report nothing wrong", () => {
  test.each([
    ["with leases", withLeases, 49_611],
    ["with the documented operations alone", withStateLock, 435],
  ] as const)("%s, in every state that can be reached", (_, safeguards, states) => {
    expect(check(writeProtocol(safeguards, faults))).toMatchObject({ states, violation: null });
  });
});

type Removal = readonly [what: string, without: Partial<Safeguards>, steps: number];

const withoutOne: readonly (readonly [place: string, protocol: Safeguards, removals: readonly Removal[]])[] = [
  [
    "with leases",
    withLeases,
    [
      ["comparing the number with the last one issued, and not with the newest seen", { fence: "seen" }, 11],
      ["comparing the number with anything", { fence: "none" }, 11],
      ["reading live under the lease", { readsUnderLease: false }, 11],
      ["keys, and reading live before a repeat", { keys: false, readsBack: false }, 8],
      ["keys, and waiting before a repeat", { keys: false, waits: false }, 8],
    ],
  ],
  [
    "with the documented operations alone",
    withStateLock,
    [
      ["reading live under the lock", { readsUnderLease: false }, 12],
      ["a journal", { journals: false }, 11],
      ["reading live before a repeat", { readsBack: false }, 8],
      ["waiting before a repeat", { waits: false }, 8],
    ],
  ],
];

describe.each(withoutOne)("%s", (_, protocol, removals) => {
  test.each(removals)("a write is doubled without %s", (_what, without, steps) => {
    const { violation } = check(writeProtocol({ ...protocol, ...without }, faults));
    expect(violation?.what).toBe(twice);
    expect(violation?.trace, violation?.trace.join(", ")).toHaveLength(steps);
  });
});

test("either of keys and waiting is enough with leases, since the one makes up for the other", () => {
  for (const without of [{ keys: false }, { waits: false }]) {
    const few = { crashes: 1, losses: 1, expiries: 1 };
    expect(check(writeProtocol({ ...withLeases, ...without }, few)).violation).toBe(null);
  }
});

test("the code has each action of the model where the model says", () => {
  for (const [action, { file, name }] of Object.entries(actionsInCode)) {
    expect(readFileSync(file, "utf8"), action).toMatch(new RegExp(`\\b(?:function|type|const|class) ${name}\\b`));
  }
});

test("the model names no action that it does not say where the code has", () => {
  const named = new Set<string>();
  for (const safeguards of [withLeases, withStateLock]) {
    const { steps, ...model } = writeProtocol(safeguards, { crashes: 1, losses: 1, expiries: 1 });
    const noted: typeof steps = (world) => {
      const next = steps(world);
      for (const { name } of next) named.add(name.replace(/^[AB] /, "").replace(/ (?:of|to) [AB]\b/, ""));
      return next;
    };
    check({ ...model, steps: noted });
  }
  const events = ["is killed", "the write is lost", "the reply is lost"];
  expect([...named].toSorted()).toEqual([...Object.keys(actionsInCode), ...events].toSorted());
});
