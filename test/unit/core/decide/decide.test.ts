import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { fillDefaults } from "../../../../src/contract/manifest-shape.ts";
import type { OperationName } from "../../../../src/contract/operations.ts";
import { isFastEqual } from "../../../../src/core/decide/decide.ts";
import { staleness } from "../../../../src/core/decide/decide-each.ts";
import { differencesFrom, isContentOf } from "../../../../src/core/decide/own-content.ts";
import type { Live } from "../../../../src/core/live.ts";
import { NOT_COMPARED, UNRESOLVED } from "../../../../src/core/referenced-values.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { against, declare, NOON, plan, present, recorded, service } from "../given.ts";

const absent: Live = { state: "absent" };
const unread: Live = { state: "unknown", reason: "no-read" };
const API = "service/c1:ws1/api";
const group = (...secrets: readonly JsonObject[]) => ({ type: "secret-group", name: "db", secrets });
const without = (...names: readonly OperationName[]) => ({
  has: (name: OperationName) => !names.includes(name),
  registers: null,
});

function requireKind(type: string) {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`no kind ${type}`);
  return kind;
}

describe("a step is blocked", () => {
  test("where the files that it names cannot be read", () => {
    const step = against(service(), absent, { noFiles: new Map([[API, "no such folder"]]) });
    expect(step).toMatchObject({ action: "block", reason: "no-files" });
    expect(step.decision).toMatchObject({ detail: "no such folder", pointer: "/source" });
  });

  test("where a gate is closed, with what refers to it, and not where nothing is written", () => {
    const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1" };
    const closed = new Map([["workspace/c1:ws1", "metric accuracy: not asked"]]);
    const made = (live: Live) =>
      plan([declare(workspace), declare(service())], {
        live: { "workspace/c1:ws1": live, [API]: absent },
        closed,
      });
    const { plan: blocked, decisions } = made(present({ ...workspace, labels: { a: "1" } }));
    expect(blocked.steps.map(({ action, reason }) => [action, reason])).toEqual([
      ["block", "gate"],
      ["block", "dependency"],
    ]);
    expect(decisions.get("workspace/c1:ws1")).toMatchObject({ detail: "metric accuracy: not asked", pointer: null });
    expect(decisions.get(API)).toMatchObject({ detail: "workspace/c1:ws1", pointer: "/workspace_fqn" });
    expect(made(present(workspace)).plan.steps.map(({ action }) => action)).toEqual(["keep", "create"]);
  });

  test.each<[string, Live, readonly OperationName[], string, string | null]>([
    [
      "create-only",
      present(group({ key: "a", value: "x" })),
      ["putSecretGroup"],
      "create-only",
      "the documented operation only creates a group: it changes no value, and sets no collaborators",
    ],
    ["read-only", absent, ["putSecretGroup", "createSecretGroup"], "read-only", null],
  ])("where the control plane can do no more: %s", (_, live, lacks, reason, detail) => {
    const step = against(group({ key: "a", value: "y" }), live, { capabilities: without(...lacks) });
    expect(step).toMatchObject({ action: "block", reason });
    expect(step.decision.detail).toBe(detail);
  });

  test("where no operation writes the kind, with the reason", () => {
    const step = against({ type: "ml-repo", name: "r" }, absent, {
      capabilities: { has: () => false, registers: null },
    });
    expect(step).toMatchObject({ action: "block", reason: "read-only" });
    expect(step.decision.detail).toBe("no documented operation writes ml repos");
  });

  test.each<[string | undefined, string | null | undefined, string, string]>([
    [undefined, undefined, "refused", "no such image"],
    ["disabled", null, "disabled", "no such image"],
    [UNRESOLVED, null, UNRESOLVED, "no such image"],
    ["other", "/image/image_uri", "refused", "/image/image_uri: no such image"],
  ])("where a dry run is refused with code %s at %s", (code, pointer, reason, detail) => {
    const reply = {
      state: "refused" as const,
      message: "no such image",
      ...(code && { code }),
      ...(pointer !== undefined && { pointer }),
    };
    for (const live of [absent, unread, present(service({ replicas: 2 }))]) {
      const step = against(service(), live, { dryRuns: new Map([[API, reply]]) });
      expect(step).toMatchObject({ action: "block", reason });
      expect(step.decision).toMatchObject({ detail, pointer: pointer ?? null });
    }
  });
});

describe("values that live never shows", () => {
  const value = (text: string) => group({ key: "a", value: text });

  test("are not compared where it is not known which are live, and the plan says so", () => {
    expect(against(value(NOT_COMPARED), present(value(NOT_COMPARED)))).toMatchObject({
      action: "keep",
      decision: { reason: "not-compared" },
    });
  });

  test("are written where they may differ, and that is all that does", () => {
    const one = (live: JsonObject, receipts = {}) => against(value("new"), present(live), receipts).action;
    expect(one(value("old"))).toBe("ensure");
    expect(one(value("old"), { recorded: [recorded(value("old"))] })).toBe("update");
    expect(one(group({ key: "b", value: "old" }))).toBe("update");
    expect(one({ ...value("old"), collaborators: [{ subject: "team:ml", role_id: "secret-group-user" }] })).toBe(
      "update",
    );
  });
});

describe("the patches of the base", () => {
  const dangers = (manifest: JsonObject, others: JsonObject, live: Live) =>
    against(manifest, live, {
      underBasePatches: new Map([[API, others]]),
      writers: new Set(["me"]),
    }).decision.dangers.map(({ risk, path, text }) => [risk, path, text]);
  const live = present(service({ replicas: 3, labels: { a: "1" } }), { createdBy: "me" });

  test("leave a danger that those of the branch hide", () => {
    expect(dangers(service({ replicas: 3 }), service({ replicas: 0 }), live)).toEqual([
      ["scale-to-zero", null, "3 → 0 with the patches of the base"],
    ]);
  });

  test("tell a danger once that both have", () => {
    expect(dangers(service({ replicas: 0 }), service({ replicas: 0 }), live)).toEqual([
      ["scale-to-zero", "/replicas", "3 → 0"],
    ]);
  });
});

test("what is dangerous names the first ten fields, and how many more", () => {
  const labels = (value: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`l${String(nth).padStart(2, "0")}`, value]));
  const text = (count: number) =>
    against(service({ labels: labels("new", count) }), present(service({ labels: labels("old", count) }))).decision
      .dangers[0]?.text;
  expect(text(2)).toBe("labels.l00, labels.l01");
  expect(text(10)).toMatch(/^labels.l00, .*, labels.l09$/);
  expect(text(12)).toMatch(/^labels.l00, .*, labels.l09 and 2 more$/);
});

test("a record counts for a day, and not at all where another resource is gone", () => {
  const DAY = 24 * 60 * 60 * 1000;
  const [one, other] = [recorded(service(), { at: NOON - DAY }), recorded(service({ name: "b" }), { at: NOON })];
  const state = (now: number, gone: readonly string[], declared: readonly string[]) =>
    staleness({
      recorded: new Map([one, other].map((receipt) => [receipt.identity, receipt])),
      declared: new Set(declared),
      live: new Map<string, Live>(gone.map((identity) => [identity, absent])),
      now,
    })(API);
  const both = [one.identity, other.identity];
  expect(state(NOON, [], both)).toBe(false);
  expect(state(NOON + 1, [], both)).toBe(true);
  expect(state(NOON, [other.identity], both)).toBe(true);
  expect(state(NOON, [other.identity], [API])).toBe(false);
  expect(state(NOON, ["team/none"], [...both, "team/none"])).toBe(false);
  expect(staleness({ recorded: new Map(), declared: new Set(), live: new Map(), now: NOON })(API)).toBe(false);
});

describe("an earlier manifest", () => {
  const check = (ignored: readonly (readonly string[])[] = [], row: JsonObject | null = null) => ({
    kind: requireKind("service"),
    manifest: declare(service({ replicas: 2 })),
    dryRun:
      row === null ? null : ({ state: "answered", row: { key: "", id: "1", manifest: row, stamp: null } } as const),
    ignored,
  });

  test("is what live is of, but for what is ignored and what the control plane adds", () => {
    const filled = (fields: JsonObject) => fillDefaults(requireKind("service").shape, service(fields)) as JsonObject;
    const live = filled({ replicas: 5 });
    expect(isContentOf(check(), service({ replicas: 5 }), live)).toBe(true);
    expect(isContentOf(check(), service({ replicas: 3 }), live)).toBe(false);
    expect(isContentOf(check([["replicas"]]), service({ replicas: 3 }), live)).toBe(true);
    expect(differencesFrom(check(), service({ replicas: 3 }), live).map(({ tokens }) => tokens)).toEqual([
      ["replicas"],
    ]);
    const added = filled({ replicas: 5, service_account: "default" });
    expect(isContentOf(check(), service({ replicas: 5 }), added)).toBe(false);
    const row = filled({ replicas: 2, service_account: "default" });
    expect(isContentOf(check([], row), service({ replicas: 5 }), added)).toBe(true);
  });
});

test("a manifest is equal to live at a glance, or has to be compared", () => {
  const kind = requireKind("service");
  expect(isFastEqual(kind, service({ replicas: 2 }), service({ replicas: 2 }))).toBe(true);
  expect(isFastEqual(kind, service({ replicas: 2 }), service({ replicas: 3 }))).toBe(false);
  expect(isFastEqual(kind, service(), fillDefaults(kind.shape, service()) as JsonObject)).toBe(true);
  const prompt = (version: number) => ({ type: "chat_prompt", name: "p", ml_repo: "r", version });
  expect(isFastEqual(requireKind("chat_prompt"), prompt(1), prompt(2))).toBe(true);
});
