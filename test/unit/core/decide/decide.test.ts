import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { fillDefaults } from "../../../../src/contract/manifest-shape.ts";
import type { OperationName } from "../../../../src/contract/operations.ts";
import { isFastEqual } from "../../../../src/core/decide/decide.ts";
import { staleness } from "../../../../src/core/decide/decide-each.ts";
import { differencesFrom, isContentOf } from "../../../../src/core/decide/own-content.ts";
import type { CausedBy } from "../../../../src/core/diff/step-cause.ts";
import type { Live } from "../../../../src/core/live.ts";
import { NOT_COMPARED, UNRESOLVED } from "../../../../src/core/referenced-values.ts";
import { kindOf } from "../../../../src/kinds/index.ts";
import { type Around, against, causes, declare, NOON, plan, present, prompt, recorded, service } from "../given.ts";

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

/** A service with the defaults of its schema. */
function filled(fields: JsonObject = {}): JsonObject {
  return fillDefaults(requireKind("service").shape, service(fields)) as JsonObject;
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

describe("the cause of a step", () => {
  const declared = (fields: JsonObject = {}) => new Map([[API, service(fields)]]);
  const [written, writtenOtherwise] = [[recorded(service())], [recorded(service({ replicas: 2 }))]];

  test.each<[string, Live, Around, CausedBy | null]>([
    ["of which nothing else is known", absent, {}, "change"],
    ["that the base does not have", absent, { base: new Map() }, "change"],
    ["that the base has otherwise", absent, { base: declared({ replicas: 2 }) }, "change"],
    ["that the base has", absent, { base: declared() }, "unrecorded"],
    ["that was written and is gone", absent, { recorded: written }, "drift"],
    ["that was written otherwise and is gone", absent, { recorded: writtenOtherwise }, "mixed"],
    [
      "that was written and that the base has otherwise",
      absent,
      { base: declared({ replicas: 2 }), recorded: written },
      "mixed",
    ],
    [
      "that was written otherwise than the base has it",
      absent,
      { base: declared(), recorded: writtenOtherwise },
      "drift",
    ],
    ["that was applied and is gone", absent, { base: declared(), applied: declared() }, "drift"],
    ["that was not applied yet", absent, { base: declared(), applied: new Map() }, "pending"],
    ["that was applied and cannot be read", unread, { base: declared(), applied: declared() }, "unrecorded"],
    ["that was applied otherwise", unread, { base: declared(), applied: declared({ replicas: 2 }) }, "pending"],
    ["that is in order", present(service()), {}, null],
  ])("on a resource %s", (_, live, around, causedBy) => {
    expect(against(service(), live, around).causedBy).toBe(causedBy);
  });

  test("is the change alone, although the control plane adds something too", () => {
    const row = { key: "", id: "1", manifest: service({ replicas: 3, service_account: "added" }), stamp: null };
    const step = against(service({ replicas: 3 }), present(service({ replicas: 2 })), {
      recorded: writtenOtherwise,
      dryRuns: new Map([[API, { state: "answered", row }]]),
    });
    expect(step.decision.differences.map(({ tokens, cause }) => [tokens.join(), cause])).toEqual([
      ["replicas", "manifest"],
      ["service_account", "default"],
    ]);
    expect(step.causedBy).toBe("change");
  });

  test("is drift where a resource is gone that was written or applied", () => {
    const isDrift = (around: Around) => against(service(), absent, around).decision.drifted;
    expect([{ recorded: written }, { applied: declared() }].map(isDrift)).toEqual([true, true]);
    expect([{}, { applied: new Map() }].map(isDrift)).toEqual([false, false]);
  });
});

describe("what the control plane adds to a resource", () => {
  test("is expected in live after each write: its loss is drift", () => {
    const known = { recorded: [recorded(service(), { returned: filled({ service_account: "added" }) })] };
    expect(causes(against(service(), present(filled()), known))).toEqual({ "/service_account": "drift" });
  });

  test("stays where live cannot be read", () => {
    const known = (returned: JsonObject | null) => ({ recorded: [recorded(service({ replicas: 2 }), { returned })] });
    const changes = (returned: JsonObject | null) => against(service({ replicas: 3 }), unread, known(returned)).changes;
    const from = (before: number) => [expect.objectContaining({ path: "/replicas", before, after: 3 })];
    expect(changes(service({ replicas: 2, service_account: "added" }))).toEqual(from(2));
    expect(changes(service({ replicas: 4, service_account: "added" }))).toEqual(from(4));
    expect(changes(null)).toEqual(from(2));
  });

  test("is no reason to write, nor to block", () => {
    const row = { key: "", id: "1", manifest: service({ service_account: "added" }), stamp: null };
    const answered = new Map([[API, { state: "answered", row } as const]]);
    const refused = new Map([[API, { state: "refused", message: "no" } as const]]);
    const shown = (live: JsonObject, dryRuns: Around["dryRuns"] = answered) => {
      const { action, decision } = against(service(), present(live), { dryRuns });
      return [action, decision.differences.map(({ tokens, cause }) => `${tokens.join()}: ${cause}`)];
    };
    expect(shown(service({ labels: {} }))).toEqual(["keep", []]);
    expect(shown(filled())[1]).toContain("service_account: default");
    expect(shown(service({ replicas: 1 }), refused)).toEqual([
      "keep",
      expect.arrayContaining(["allow_interception: default"]),
    ]);
  });
});

describe("what cannot be read", () => {
  const value = group({ key: "a", value: "x" });
  const createsOnly = { capabilities: without("putSecretGroup") };
  const stale = { recorded: [recorded(value, { at: NOON - 25 * 60 * 60 * 1000 })] };
  const decided = (manifest: JsonObject, around: Around) => {
    const { action, reason } = against(manifest, unread, around);
    return [action, reason];
  };

  test("is in order as it was written, whatever a dry run says", () => {
    const dryRuns = new Map([[API, { state: "refused", message: "no" } as const]]);
    expect(decided(service(), { dryRuns, recorded: [recorded(service())] })).toEqual(["keep", "by-ledger"]);
    expect(decided(service(), { dryRuns, recorded: [recorded(service({ replicas: 2 }))] })).toEqual([
      "block",
      "refused",
    ]);
  });

  test("is not written again where that would only create it", () => {
    expect(decided(value, stale)).toEqual(["ensure", null]);
    expect(decided(value, { ...stale, ...createsOnly })).toEqual(["keep", "by-ledger"]);
    expect(decided(value, { ...stale, capabilities: { has: () => false, registers: null } })).toEqual([
      "block",
      "read-only",
    ]);
  });

  test("is created where it may not exist, and blocked where it was written otherwise", () => {
    expect(decided(value, createsOnly)).toEqual(["ensure", null]);
    expect(decided(group({ key: "a", value: "y" }), { ...stale, ...createsOnly })).toEqual(["block", "create-only"]);
  });

  test("is created again where it was written and is gone", () => {
    const step = against(value, absent, { recorded: [recorded(value)] });
    expect([step.action, step.reason]).toEqual(["create", null]);
  });

  test("is blocked where another kind has its name", () => {
    const live: Live = { state: "unknown", reason: "type-changed", detail: "it is a job" };
    const step = against(service(), live);
    expect([step.action, step.reason, step.decision.detail]).toEqual(["block", "type-changed", "it is a job"]);
  });
});

describe("a version", () => {
  const repo = { type: "ml-repo", name: "r" };

  test("follows the one before also where the manifest refers to something else", () => {
    const references = [
      { identity: "ml-repo/r", pointer: "/ml_repo" },
      { identity: "chat_prompt/r/greeter@1", pointer: "/version" },
    ];
    const manifests = [declare(prompt({ version: 1 })), declare(prompt({ version: 2 }), { references })];
    const live = { "ml-repo/r": present(repo), "chat_prompt/r/greeter@1": absent, "chat_prompt/r/greeter@2": absent };
    expect(plan(manifests, { live }).plan.steps.map(({ action }) => action)).toEqual(["create", "create"]);
  });

  test("never changes its content along with its description", () => {
    const changed = { description: "new", messages: [{ role: "system", content: "Be rude." }] };
    const step = against(prompt({ version: 2, ...changed }), present(prompt({ version: 2 }), { version: 2 }));
    expect([step.action, step.reason]).toEqual(["block", "immutable"]);
  });

  test("is no field of that name of another kind", () => {
    expect(against(service({ version: 5 }), absent).action).toBe("create");
  });
});

describe("values that live never shows", () => {
  const value = (text: string) => group({ key: "a", value: text });

  test("are not compared where it is not known which are live, and the plan says so", () => {
    expect(against(value(NOT_COMPARED), present(value(NOT_COMPARED)))).toMatchObject({
      action: "keep",
      decision: { reason: "not-compared" },
    });
    expect(against(value(NOT_COMPARED), absent)).toMatchObject({ action: "create", reason: null });
  });

  test("are written where they may differ, and that is all that does", () => {
    const one = (live: JsonObject, receipts = {}) => against(value("new"), present(live), receipts).action;
    expect(one(value("old"))).toBe("ensure");
    expect(one(value("old"), { recorded: [recorded(value("old"))] })).toBe("update");
    expect(one(group({ key: "b", value: "old" }))).toBe("update");
    expect(one(group({ key: "a" }))).toBe("update");
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
    const live = filled({ replicas: 5 });
    expect(isContentOf(check(), service({ replicas: 5 }), live)).toBe(true);
    expect(isContentOf(check(), service({ replicas: 3 }), live)).toBe(false);
    expect(isContentOf(check(), service({ replicas: 2 }), filled({ replicas: 2 }))).toBe(true);
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
  expect(isFastEqual(kind, service(), filled())).toBe(true);
  const prompt = (version: number) => ({ type: "chat_prompt", name: "p", ml_repo: "r", version });
  expect(isFastEqual(requireKind("chat_prompt"), prompt(1), prompt(2))).toBe(true);
});
