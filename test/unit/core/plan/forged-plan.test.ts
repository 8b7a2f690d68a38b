import { describe, expect, test } from "vitest";
import { findForged } from "../../../../src/core/plan/forged-plan.ts";
import type { Change, Plan, Step } from "../../../../src/core/plan/plan.ts";
import type { SignedPlan } from "../../../../src/core/plan/signed-plan.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

type Made = { readonly steps: readonly Step[]; readonly fields?: Partial<Plan> };

/** What contradicts itself in the file of a plan, given what would be done now: the same unless it is given. */
function forgedIn({ steps, fields }: Made, now: Made = { steps }): readonly string[] {
  const { revision, server, summary, diagnostics, ...was } = JSON.parse(JSON.stringify(samplePlan(steps, fields)));
  const acting = was.steps.filter(({ action }: Step) => action !== "keep");
  const signed: SignedPlan = {
    ...{ revision, server, summary, diagnostics, allows: [], approvals: null, plannedBy: null },
    steps: new Map(acting.map((step: Step) => [step.identity, step])),
    signature: { key: "k", signature: "s", configuration: "c", content: "d", source: {}, secrets: {}, live: {} },
  };
  return findForged(signed, samplePlan(now.steps, now.fields));
}

const stepCausedBy = (causedBy: Step["causedBy"], causes: readonly Change["cause"][], fields: Partial<Step> = {}) =>
  sampleStep("team/ml", {
    causedBy,
    changes: causes.map((cause, at) => sampleChange(`f${at}`, 1, 2, cause)),
    ...fields,
  });

const change = stepCausedBy("change", ["manifest"]);

describe("the summary of a plan's file", () => {
  const said = ["its summary does not count its steps"];
  const { summary } = samplePlan([change]);
  const summarised = (fields: Partial<Plan["summary"]>): Made => ({
    steps: [change],
    fields: { summary: { ...summary, ...fields } },
  });

  test.each<[Partial<Plan["summary"]>, readonly string[]]>([
    [{}, []],
    [{ create: 1 }, said],
    [{ update: 0 }, said],
    [{ ensure: 1 }, said],
    [{ block: 1 }, said],
    [{ unrecorded: 1 }, said],
    [{ notChecked: 1 }, said],
    [{ notChecked: 0 }, []],
    [{ keep: 30 }, said],
    [{ orphan: 1 }, []],
    [{ drift: 1 }, []],
  ])("has to count its steps: with %j", (fields, found) => {
    expect(forgedIn(summarised(fields))).toEqual(found);
  });

  test("may have another number of kept resources where it is not known to be of the same commit", () => {
    const made = { ...summarised({ keep: 30 }) };
    for (const [was, now] of [
      ["c0ffee", "f00d"],
      ["c0ffee", null],
      [null, null],
    ] as const) {
      const file = { ...made, fields: { ...made.fields, revision: was } };
      expect(forgedIn(file, { steps: [change], fields: { revision: now } })).toEqual([]);
    }
  });

  test("has kept what was done since", () => {
    const done = { ...change, action: "keep" as const };
    const kept = (keep: number): Made => ({ steps: [done], fields: { summary: { ...samplePlan([]).summary, keep } } });
    expect(forgedIn({ steps: [change] }, kept(32))).toEqual([]);
    expect(forgedIn({ steps: [change] }, kept(31))).toEqual(said);
  });

  test("counts what was not checked, and what is not recorded by its cause or by that of a change", () => {
    const unchecked = { ...change, notChecked: { reason: "skipped" } as const };
    const by = (step: Step, fields: object): Made => ({
      steps: [step],
      fields: { summary: { ...samplePlan([step]).summary, ...fields } },
    });
    expect(forgedIn(by(unchecked, { notChecked: 1 }))).toEqual([]);
    expect(forgedIn(by(unchecked, {}))).toEqual(said);
    for (const step of [
      stepCausedBy("unrecorded", ["unrecorded"]),
      stepCausedBy("mixed", ["manifest", "unrecorded"]),
    ]) {
      expect(forgedIn({ steps: [step] })).toEqual([]);
      expect(forgedIn(by(step, { unrecorded: 0 }))).toEqual(said);
    }
    const ensured = stepCausedBy("unrecorded", [], { action: "ensure" });
    expect(forgedIn({ steps: [ensured] })).toEqual([]);
    expect(forgedIn(by(ensured, { unrecorded: 0 }))).toEqual(said);
  });
});

describe("the diagnostics of a plan's file", () => {
  const note = { severity: "warning", code: "note", summary: "all is well", detail: null } as const;
  const place = { file: null, line: null, column: null };
  const noted = (...notes: readonly object[]): Made => ({
    steps: [],
    fields: { diagnostics: notes.map((one) => ({ ...note, ...place, ...one })) },
  });

  test.each<[string, Made, Made, readonly string[]]>([
    ["the same", noted({}), noted({}), []],
    ["at another place", noted({ file: "a.yaml", line: 1, column: 1 }), noted({ file: "b.yaml" }), []],
    ["one more", noted({}), noted(), ["only the plan's file says: warning: all is well [note]"]],
    ["one less", noted(), noted({}), ["the plan's file does not say: warning: all is well [note]"]],
    [
      "with another detail",
      noted({ detail: "Look." }),
      noted({}),
      [
        "only the plan's file says: warning: all is well [note] Look.",
        "the plan's file does not say: warning: all is well [note]",
      ],
    ],
    ["about a blocked step", noted({ code: "read-only" }), noted({ code: "refused" }), []],
    ["about the checkout", noted({ code: "behind-base" }, { code: "applied-ref" }), noted(), []],
    [
      "about the history, policies or the run",
      noted(),
      noted({ code: "unknown-revision" }, { code: "policy" }, { code: "no-lease" }),
      [],
    ],
  ])("have to be those of now: %s", (_, was, now, found) => {
    expect(forgedIn(was, now)).toEqual(found);
  });
});

describe("the risks of a step in a plan's file", () => {
  const marked = (risks: Step["risks"], fields: Partial<Step> = {}): Made => ({
    steps: [{ ...change, risks, ...fields }],
  });
  const only = (mark: string) => [`only the plan's file marks team/ml with ${mark}`];
  const lacks = (mark: string) => [`the plan's file does not mark team/ml with ${mark}`];

  test.each(["privilege-growth", "scale-to-zero", "exposure", "secret-removed", "version-immutable"] as const)(
    "follow from its content: %s",
    (risk) => {
      expect(forgedIn(marked([risk]))).toEqual([]);
      expect(forgedIn(marked([risk]), marked([]))).toEqual(only(risk));
      expect(forgedIn(marked([]), marked([risk]))).toEqual(lacks(risk));
    },
  );

  test("follow from the causes of its changes: an update of what live has changed reverts it", () => {
    for (const step of [stepCausedBy("drift", ["drift"]), stepCausedBy("mixed", ["conflict"])]) {
      expect(forgedIn({ steps: [{ ...step, risks: ["reverts"] }] })).toEqual([]);
      expect(forgedIn({ steps: [step] })).toEqual(lacks("reverts"));
      expect(forgedIn({ steps: [{ ...step, action: "block" }] })).toEqual([]);
    }
    expect(forgedIn(marked(["reverts"]))).toEqual(only("reverts"));
    expect(forgedIn(marked([]), marked(["reverts", "adopts"]))).toEqual([]);
  });

  test("may be an adoption where something is overwritten, by the records of its author", () => {
    expect(forgedIn(marked(["adopts"]), marked([]))).toEqual([]);
    expect(forgedIn(marked(["adopts"], { action: "ensure" }), marked([]))).toEqual([]);
    expect(forgedIn(marked(["adopts"], { action: "create" }))).toEqual(only("adopts"));
  });

  test("are those of now only where the step is not done", () => {
    const kept: Made = { steps: [{ ...change, action: "keep" }], fields: { revision: "f00d" } };
    expect(forgedIn(marked(["exposure"]), kept)).toEqual([]);
    expect(forgedIn(marked(["exposure"]), { steps: [], fields: { revision: "f00d" } })).toEqual([]);
  });

  test("are none where their form is another one", () => {
    const step = { action: "update", identity: "team/ml", risks: "exposure", changes: "all", causedBy: null };
    const { summary } = samplePlan([change]);
    const file = { revision: null, summary, diagnostics: [], steps: new Map([["team/ml", step]]) };
    expect(findForged(file as unknown as SignedPlan, samplePlan([change]))).toEqual([]);
  });
});

test.each<[readonly Change["cause"][], readonly Step["causedBy"][]]>([
  [["manifest"], ["change"]],
  [["manifest", "drift"], ["mixed"]],
  [["manifest", "conflict"], ["mixed"]],
  [["conflict"], ["mixed", "drift"]],
  [["drift"], ["drift"]],
  [["drift", "unrecorded"], ["drift"]],
  [["unrecorded"], ["unrecorded"]],
  [["unrecorded", "pending"], ["unrecorded"]],
  [["pending"], ["pending"]],
  [[], [null]],
])("an update with changes of %j is caused by %j, and by nothing else", (causes, expected) => {
  const all: readonly Step["causedBy"][] = ["change", "pending", "drift", "mixed", "unrecorded", null];
  const consistent = all.filter((causedBy) => {
    const step = stepCausedBy(causedBy, causes);
    return !forgedIn({ steps: [step] }).some((text) => text.includes("names another cause of team/ml"));
  });
  expect(consistent.toSorted()).toEqual(expected.toSorted());
  expect(forgedIn({ steps: [stepCausedBy("change", ["drift"], { action: "block" })] })).toEqual([]);
});
