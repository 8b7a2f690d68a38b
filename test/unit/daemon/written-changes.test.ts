import { expect, test } from "vitest";
import type { Json } from "../../../src/contract/json.ts";
import type { Change, Step } from "../../../src/core/plan/plan.ts";
import type { ApplyEvent } from "../../../src/core/report/events.ts";
import type { Outcome } from "../../../src/core/report/report.ts";
import { writtenChanges } from "../../../src/daemon/written-changes.ts";

function change(path: string, before: Json, after: Json, diff: string | null = null): Change {
  return { path, label: path.slice(1), before, after, cause: "manifest", diff };
}

function applied(written: { readonly [identity: string]: readonly [Outcome["result"], readonly Change[]] }) {
  const all = Object.entries(written);
  return writtenChanges({
    report: { outcomes: all.map(([identity, [result]]) => ({ identity, result })) },
    plan: { steps: all.map(([identity, [, changes]]) => ({ identity, changes }) as unknown as Step) },
  } as unknown as ApplyEvent);
}

test("what was written is kept with its values, and what was not is not", () => {
  const changes = [change("/replicas", 1, 2)];
  const all = { created: changes, updated: changes, unknown: changes, failed: changes, blocked: changes };
  const found = applied(
    Object.fromEntries(
      Object.entries(all).map(([result, own]) => [`team/${result}`, [result as Outcome["result"], own]]),
    ),
  );
  expect([...found.keys()]).toEqual(["team/created", "team/updated", "team/unknown"]);
  expect(found.get("team/updated")).toEqual({ fields: changes, leftOut: 0, cut: 0 });
});

test("a created resource has the fields of its manifest", () => {
  const manifest = change("", null, { type: "team", members: ["a"], "x/y": null });
  expect(applied({ "team/a": ["created", [manifest]] }).get("team/a")?.fields).toEqual([
    { ...change("/type", null, "team"), label: "type" },
    { ...change("/members", null, ["a"]), label: "members" },
    { ...change("/x~1y", null, null), label: "x/y" },
  ]);
});

test("long values are cut, and more than 50 fields are counted", () => {
  const long = change("/a", "s".repeat(1001), { list: "😀".repeat(600) }, "d".repeat(1000));
  const found = applied({ "team/a": ["updated", [long]] }).get("team/a");
  const [field] = found?.fields ?? [];
  expect([field?.before, String(field?.after).length, field?.diff?.length]).toEqual([
    `${"s".repeat(999)}…`,
    1000,
    1000,
  ]);
  expect(String(field?.after)).toSatisfy((text: string) => text.isWellFormed());
  expect([found?.leftOut, found?.cut]).toEqual([0, 2]);
  const many = Array.from({ length: 60 }, (_, at) => change(`/f${at}`, at, at + 1));
  const some = applied({ "team/a": ["updated", many] }).get("team/a");
  expect([some?.fields.length, some?.leftOut, some?.cut]).toEqual([50, 10, 0]);
});

test("a resource and a pass have a bound, and every write beyond it is counted", () => {
  const wide = Array.from({ length: 50 }, (_, at) => change(`/f${at}`, "x".repeat(900), "y".repeat(900)));
  const one = applied({ "team/a": ["updated", wide] }).get("team/a");
  expect(JSON.stringify(one).length).toBeLessThan(20_200);
  expect((one?.fields.length ?? 0) + (one?.leftOut ?? 0)).toBe(50);
  const names = Array.from({ length: 300 }, (_, at) => `team/${at}`);
  const all = applied(Object.fromEntries(names.map((name) => [name, ["updated", wide]])));
  expect(all.size).toBe(300);
  expect(JSON.stringify([...all]).length).toBeLessThan(4_100_000);
  expect(all.get("team/299")).toEqual({ fields: [], leftOut: 50, cut: 0 });
});
