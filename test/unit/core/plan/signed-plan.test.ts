import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";
import type { Live } from "../../../../src/core/live.ts";
import type { Manifest } from "../../../../src/core/manifest.ts";
import { requireSamePlan } from "../../../../src/core/plan/require-same-plan.ts";
import { planDigest, type Signable, type Signer, signPlan } from "../../../../src/core/plan/sign-plan.ts";
import { parseSignedPlan, type SignedPlan } from "../../../../src/core/plan/signed-plan.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { type Around, declare, plan, present, recorded, service } from "../given.ts";

const API = "service/c1:ws1/api";
const live = (replicas: number, stamp = "stamp-1"): Live => present(service({ replicas }), { stamp });
const env = (password: string): JsonObject => service({ replicas: 2, env: { DB_PASSWORD: password } });

const signer: Signer = { key: "key-1", keyed: (text) => `one of ${text}`, configuration: "config-1" };
const stranger: Signer = { key: "key-2", keyed: (text) => `two of ${text}`, configuration: "config-1" };

/** A team with one member. */
const team = (name: string, member = "a@x.io"): JsonObject => ({ type: "team", name, members: [member] });

type Situation = { readonly desired?: readonly Manifest[]; readonly around?: Around; readonly signer?: Signer };

/** What would be done now, and what it was made from. */
function current({ desired = [declare(service({ replicas: 2 }))], around, signer: by = signer }: Situation = {}) {
  const given: Around = { live: { [API]: live(5) }, recorded: [recorded(service({ replicas: 2 }))], ...around };
  const { plan: made } = plan(desired, given);
  const signable: Signable = {
    steps: made.steps,
    manifestOf: (identity) => desired.find((one) => one.identity === identity),
    documents: () => desired.map(({ identity, value }) => [identity, JSON.stringify(value)] as const),
    liveOf: (identity) => given.live?.[identity],
    kinds: kindsByType,
  };
  return { plan: made, signable, signer: by };
}

/** The file of such a plan. */
function fileOf(situation: Situation = {}): JsonObject {
  const { plan: made, signable, signer: by } = current(situation);
  const shown = JSON.parse(JSON.stringify(made)) as JsonObject;
  return { ...shown, seal: signPlan(shown, signable, by) as unknown as JsonObject };
}

/** The same file after an edit, with the digest that anybody can make anew. */
function forged(file: JsonObject, fields: JsonObject): JsonObject {
  const edited = { ...file, ...fields };
  return { ...edited, seal: { ...(edited.seal as JsonObject), content: planDigest(edited) } };
}

const signed = (situation: Situation = {}): SignedPlan => parseSignedPlan(fileOf(situation));

/** The error, with what it says of each thing that moved; null if there is none. */
function refusalOf(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const { code, message, hint, diagnostics } = error;
    return { code, message, hint, moved: diagnostics.map(({ summary }) => summary) };
  }
  return null;
}

const refused = (was: SignedPlan, now: Situation = {}) => refusalOf(() => requireSamePlan(was, current(now)));
const movedSince = (was: Situation, now: Situation) => refused(signed(was), now)?.moved ?? [];

describe("a signed plan is read", () => {
  test("with its steps that act, and all that it was made from", () => {
    const file = fileOf({
      desired: [declare(env("p4ssw0rd")), declare(team("ml"))],
      around: { live: { [API]: live(2), "team/ml": present(team("ml")) }, recorded: [] },
    });
    const read = parseSignedPlan({ ...file });
    expect([...read.steps.keys()]).toEqual([API]);
    expect(read.signature).toEqual(file.seal);
    expect(read.signature.live).toEqual({ [API]: "stamp-1" });
    expect(read.signature.secrets[API]).toMatch(/^one of service\/c1:ws1\/api .*p4ssw0rd/);
    expect(read.signature.source[API]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(read).toMatchObject({
      ...{ revision: null, server: "http://server", summary: file.summary, diagnostics: [] },
      ...{ allows: [], approvals: null, plannedBy: null },
    });
  });

  test("with its commit, the flags that allowed it and its diagnostics", () => {
    const note = { severity: "warning", code: "note", summary: "a note", detail: null };
    const file = fileOf({ around: { revision: "c0ffee" } });
    const read = parseSignedPlan(forged(file, { allows: ["adopts"], diagnostics: [note] }));
    expect(read).toMatchObject({ revision: "c0ffee", allows: ["adopts"], diagnostics: [note] });
  });

  test("with digests of no form, which are equal to none", () => {
    const file = fileOf();
    const seal = { ...(file.seal as JsonObject), source: { [API]: 1 }, secrets: { [API]: 2 }, live: { [API]: 3 } };
    const { signature } = parseSignedPlan(forged(file, { seal }));
    expect(signature).toMatchObject({ source: { [API]: "1" }, secrets: { [API]: "2" }, live: { [API]: null } });
  });

  test("without digests of what has no step, which earlier ones do not have", () => {
    const { kept: _, ...seal } = fileOf().seal as JsonObject;
    expect(parseSignedPlan(forged(fileOf(), { seal })).signature.kept).toBeUndefined();
  });
});

describe("a signed plan is refused as a file", () => {
  const sealed = (fields: JsonObject): JsonObject => ({
    ...fileOf(),
    seal: { ...(fileOf().seal as JsonObject), ...fields },
  });
  const summarised = (fields: JsonObject): JsonObject => ({
    summary: { ...(fileOf().summary as JsonObject), ...fields },
  });

  test.each<[string, unknown]>([
    ["it has no steps", null],
    ["it has no steps", []],
    ["it has no steps", { ...fileOf(), steps: {} }],
    ['its format is "9.0", and this release reads 2.2', { ...fileOf(), format_version: "9.0" }],
    ["its format is not named, and this release reads 2.2", { steps: [] }],
    ["it has no signature", { ...fileOf(), seal: null }],
    ["it has no signature", { ...fileOf(), server: 1 }],
    ["it has no signature", { ...fileOf(), summary: [] }],
    ["it has no signature", sealed({ key: 1 })],
    ["it has no signature", sealed({ configuration: 1 })],
    ["it has no signature", sealed({ source: [] })],
    ["it has no signature", sealed({ secrets: null })],
    ["it has no signature", sealed({ live: null })],
    ["`approvals` names no `keys`", forged(fileOf(), { approvals: {} })],
  ])("because %s", (why, file) => {
    expect(refusalOf(() => parseSignedPlan(file))).toEqual({
      code: "invalid",
      message: `that is no plan of this version: ${why}`,
      hint: "make one with plan --out FILE",
      moved: [],
    });
  });

  test.each<[string, JsonObject]>([
    ["the plan is incomplete: live could not be read when it was made", { complete: false }],
    ["the plan is incomplete: live could not be read when it was made", { complete: false, summary: null }],
    ["the plan is incomplete: it leaves out invalid manifests", { complete: false, ...summarised({ invalid: 1 }) }],
    ["the plan is incomplete: its token did not see everything", { complete: false, ...summarised({ notVisible: 1 }) }],
    ["the plan was edited after it was made", summarised({ update: 2 })],
    ["the plan was edited after it was made", { steps: [] }],
    ["the plan was edited after it was made", { allows: ["adopts"] }],
  ])("since %s: %j", (message, fields) => {
    expect(refusalOf(() => parseSignedPlan({ ...fileOf(), ...fields }))).toEqual({
      ...{ code: "stale", message, hint: "make it again with plan --out FILE", moved: [] },
    });
  });

  test.each([
    [1, "guards refuse one step of this plan"],
    [2, "guards refuse 2 steps of this plan"],
  ])("with %i steps that guards refuse", (count, message) => {
    expect(refusalOf(() => parseSignedPlan({ ...fileOf(), ...summarised({ refused: count }) }))).toEqual({
      ...{ code: "refused", message, moved: [] },
      hint: "make it again with plan --out FILE and the flags that `guard` of its steps names",
    });
  });
});

describe("a signed plan may be applied", () => {
  const both = [declare(service({ replicas: 2 })), declare(team("ml"))];
  const around: Around = { live: { [API]: live(5), "team/ml": present(team("ml", "b@x.io")) } };

  test("while nothing has moved, with either key", () => {
    expect(refused(signed())).toBeNull();
    expect(refused(signed(), { signer: stranger })).toBeNull();
  });

  test("where some of it is done, and where all of it is", () => {
    const was = signed({ desired: both, around });
    const half = { live: { ...around.live, [API]: live(2, "stamp-2") } };
    expect(refused(was, { desired: both, around: half })).toBeNull();
    const all = { live: { ...half.live, "team/ml": present(team("ml"), { stamp: "stamp-2" }) } };
    expect(refused(was, { desired: both, around: all })).toBeNull();
  });

  test("although another ledger knows other orphans", () => {
    const gone = recorded(service({ name: "gone" }));
    const knowing: Around = { recorded: [gone], live: { [API]: live(5), [gone.identity]: present(gone.written) } };
    const unrecorded: Around = { ...knowing, recorded: [] };
    expect(refused(signed({ around: knowing }), { around: knowing })).toBeNull();
    expect(refused(signed({ around: knowing }), { around: unrecorded })).toBeNull();
    expect(refused(signed({ around: unrecorded }), { around: knowing })).toBeNull();
  });

  test("with secrets that another key has signed at the same commit alone", () => {
    const at = (revision: string | null) => ({ desired: [declare(env("canary"))], around: { revision } });
    expect(refused(signed(at("c0ffee")), { ...at("c0ffee"), signer: stranger })).toBeNull();
    for (const revision of [null, "f00d"])
      expect(refused(signed(at(revision)), { ...at(revision === null ? null : "c0ffee"), signer: stranger })).toEqual({
        code: "invalid",
        message: "the plan has secret values that were signed with another key",
        hint: "give plan and apply the same HOLDFAST_STATE_KEY (or the same --state), or plan and apply the same commit",
        moved: [],
      });
  });

  test("where what has a secret is done", () => {
    const desired = [declare(env("canary"))];
    const done: Around = { live: { [API]: present(env("canary"), { stamp: "stamp-2" }) }, revision: "c0ffee" };
    const was = signed({ desired, around: { revision: "c0ffee" } });
    expect(refused(was, { desired, around: done })).toBeNull();
    expect(refused(was, { desired, around: done, signer: stranger })).toBeNull();
  });
});

describe("a signed plan is stale", () => {
  test("for another server, naming both", () => {
    expect(refused(signed(), { around: { server: "http://other" } })).toEqual({
      code: "stale",
      message: "the plan is for http://server, and this is http://other",
      hint: "pass the plan's server with --server, or make the plan again",
      moved: [],
    });
  });

  test.each<[string, Situation, readonly string[]]>([
    ["live moves", { around: { live: { [API]: live(7, "stamp-2") } } }, [`live: ${API}: /replicas was 5, and is 7`]],
    [
      "the manifest moves",
      { desired: [declare(service({ replicas: 3 }))] },
      [`source: ${API}: /replicas was 2, and is 3`],
    ],
    [
      "both move",
      { desired: [declare(service({ replicas: 3 }))], around: { live: { [API]: live(7, "stamp-2") } } },
      [`source: ${API}: /replicas was 2, and is 3`, `live: ${API}: /replicas was 5, and is 7`],
    ],
    [
      "the manifest has another field too",
      { desired: [declare(service({ replicas: 2, labels: { a: "1" } }))] },
      [`source: ${API}: /labels/a differs now`],
    ],
    ["the manifest is gone", { desired: [] }, [`source: ${API}: /replicas no longer differs`]],
  ])("where %s", (_, now, moved) => {
    expect(movedSince({}, now)).toEqual(moved);
  });

  test("where the configuration suppresses a step, which is not taken for done", () => {
    const ignore = [{ path: "/replicas", reason: "scaled by hand" }];
    expect(refused(signed(), { around: { ignore }, signer: { ...signer, configuration: "config-2" } })).toEqual({
      code: "stale",
      message: "the plan is stale: live and the configuration have changed since it was made",
      hint: "make it again with plan --out FILE, and review what changed; apply needs the same selection as plan",
      moved: [
        `live: ${API}: /replicas no longer differs`,
        "the configuration, or what was selected, is not what it was",
      ],
    });
    expect(refused(signed(), { signer: { ...signer, configuration: "config-2" } })).toBeNull();
  });

  test("where a secret moves, without its value", () => {
    const was = { desired: [declare(env("canary-1"))], around: { live: { [API]: present(env("canary-0")) } } };
    expect(movedSince(was, { ...was, desired: [declare(env("canary-2"))] })).toEqual([
      `source: ${API}: the manifest has changed`,
    ]);
  });

  test("where what is to be created exists, is another manifest, or cannot be read", () => {
    const was: Situation = { around: { live: { [API]: { state: "absent" } }, recorded: [] } };
    const since = (now: Situation) => movedSince(was, { ...now, around: { recorded: [], ...now.around } });
    const at = { createdBy: "id-7", author: "user:ann", createdAt: "2026-11-20T10:00:00.000Z" };
    const found = (row: object): Around => ({ live: { [API]: present(service({ replicas: 5 }), row) } });
    expect(since({ around: found({}) })).toEqual([`live: ${API}: it exists now`]);
    expect(since({ around: found(at) })).toEqual([
      `live: ${API}: it exists now (changed by user:ann at 2026-11-20T10:00:00.000Z)`,
    ]);
    expect(since({ around: found({ createdBy: "id-7" }) })).toEqual([`live: ${API}: it exists now (changed by id-7)`]);
    expect(since({ around: found({ createdAt: at.createdAt }) })).toEqual([
      `live: ${API}: it exists now (changed at ${at.createdAt})`,
    ]);
    expect(since({ desired: [declare(service({ replicas: 3 }))], around: was.around as Around })).toEqual([
      `source: ${API}: the manifest has changed`,
    ]);
    const unread: Around = { live: { [API]: { state: "unknown", reason: "unreadable" } } };
    expect(since({ around: unread })).toEqual([`live: ${API}: it cannot be read now`]);
  });

  test("where what is to be updated is gone, or was written again", () => {
    expect(movedSince({}, { around: { live: { [API]: { state: "absent" } } } })).toEqual([`live: ${API}: it is gone`]);
    expect(movedSince({}, { around: { live: { [API]: live(5, "stamp-2") } } })).toEqual([
      `live: ${API}: it was written again`,
    ]);
    const elsewhere = { desired: [declare(service({ replicas: 5 }))], around: { live: { [API]: live(5, "stamp-2") } } };
    expect(movedSince({}, elsewhere)).toEqual([
      `source: ${API}: /replicas no longer differs`,
      `live: ${API}: it was written again`,
    ]);
  });

  test("where its action is another one, and nothing else", () => {
    const capabilities = { has: () => false, registers: null };
    expect(movedSince({}, { around: { capabilities } })).toEqual([
      `plan: ${API}: the plan says update, and now it is block`,
    ]);
    const ignore = [{ path: "/replicas", reason: "scaled by hand" }];
    expect(movedSince({ around: { capabilities } }, { around: { ignore } })).toEqual([
      `live: ${API}: /replicas no longer differs`,
    ]);
  });

  test("naming five fields of a step", () => {
    const labels = (value: string) => Object.fromEntries([..."abcdef"].map((name) => [name, value]));
    const of = (value: string): Situation => ({ desired: [declare(service({ replicas: 2, labels: labels(value) }))] });
    expect(movedSince(of("1"), of("2"))).toEqual([
      `source: ${API}: ${[..."abcde"].map((name) => `/labels/${name} was "1", and is "2"`).join("; ")}`,
    ]);
  });

  test("naming source and live once each, and where the manifests are", () => {
    const two = [declare(service({ replicas: 2 })), declare(service({ name: "web", replicas: 2 }))];
    const lives = (replicas: number, stamp: string): Around => ({
      live: {
        [API]: live(replicas, stamp),
        "service/c1:ws1/web": present(service({ name: "web", replicas }), { stamp }),
      },
    });
    const was = signed({ desired: two, around: lives(5, "stamp-1") });
    const moved = { desired: two, around: lives(7, "stamp-2") };
    expect(refused(was, moved)?.message).toBe("the plan is stale: live has changed since it was made");
    expect(() => requireSamePlan(was, current(moved))).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({ code: "live-changed", file: "api.yaml", line: 1, column: 1 }),
          expect.objectContaining({ code: "live-changed", file: "web.yaml", line: 1, column: 1 }),
        ],
      }),
    );
    const nowhere = { file: null, line: null, column: null };
    expect(() => requireSamePlan(was, current({ desired: [] }))).toThrow(
      expect.objectContaining({
        diagnostics: [
          expect.objectContaining({ code: "source-changed", ...nowhere }),
          expect.objectContaining({ code: "source-changed", ...nowhere }),
          expect.objectContaining({ code: "live-changed", ...nowhere }),
        ],
      }),
    );
  });
});

describe("a step that the plan does not have", () => {
  const desired = [declare(service({ replicas: 2 })), declare(team("ml"))];
  const liveAs = (found: Live): Around => ({ live: { [API]: live(5), "team/ml": found } });
  const was: Situation = { desired, around: liveAs(present(team("ml"))) };
  const edited = {
    desired: [desired[0] as Manifest, declare({ ...team("ml"), description: "x" })],
    around: was.around as Around,
  };
  const drifted = { desired, around: liveAs(present({ ...team("ml"), description: "x" }, { stamp: "stamp-2" })) };
  const gone = { desired, around: liveAs({ state: "absent" }) };
  const unread = { desired, around: liveAs({ state: "unknown", reason: "unreadable" }) };
  const same = (situation: Situation, revision = "c0ffee"): Situation => ({
    ...situation,
    around: { ...situation.around, revision },
  });

  const ofSource = "source: team/ml: the plan does not have it, and its action is now update";

  test("is of the source where its document is another one", () => {
    expect(movedSince(was, edited)).toEqual([ofSource]);
  });

  test.each<[string, Situation, string]>([
    ["differs", drifted, '/description is "x"'],
    ["is gone", gone, "it does not exist"],
    ["cannot be read", unread, "its action is now block"],
  ])("is of live where its document is the same, and live %s", (_, now, text) => {
    expect(movedSince(was, now)).toEqual([`live: team/ml: ${text}`]);
    expect(movedSince(same(was), { ...same(now), signer: stranger })).toEqual([`live: team/ml: ${text}`]);
  });

  test("is of either where only another key knows the documents, unless its cause tells", () => {
    const asStranger = (now: Situation) => movedSince(was, { ...now, signer: stranger });
    expect(asStranger(drifted)).toEqual(['source-or-live: team/ml: /description is "x"']);
    const recordOf = (value: JsonObject): Around => ({
      recorded: [recorded(service({ replicas: 2 })), recorded(value)],
    });
    const withRecord = (now: Situation, value: JsonObject): Situation => ({
      ...now,
      around: { ...now.around, ...recordOf(value) },
    });
    expect(asStranger(withRecord(drifted, team("ml")))).toEqual(['live: team/ml: /description is "x"']);
    expect(asStranger(withRecord(edited, team("ml")))).toEqual([ofSource]);
  });

  test("is of the configuration where that has changed, and the source has not", () => {
    expect(movedSince(was, { ...drifted, signer: { ...signer, configuration: "config-2" } })).toEqual([
      'configuration: team/ml: /description is "x", and the plan does not change that',
      "the configuration, or what was selected, is not what it was",
    ]);
  });

  test("is of the source where an orphan is new there", () => {
    const orphan = {
      desired: [desired[0] as Manifest],
      around: { ...liveAs(present(team("ml"))), recorded: [recorded(team("ml"))] },
    };
    expect(movedSince(was, orphan)).toEqual([
      "source: team/ml: the plan does not have it, and its action is now orphan",
    ]);
  });
});

describe("an edited plan", () => {
  test("is recognised by its own key, whatever its digest", () => {
    const file = fileOf();
    const edits = [{ summary: {} }, { steps: [] }, { diagnostics: [1] }, { allows: ["adopts"] }];
    for (const edit of edits)
      expect(refused(parseSignedPlan(forged(file, edit)))?.message).toBe("the plan was edited after it was made");
  });

  test("is recognised with another key where it has other steps than were signed", () => {
    const [step] = fileOf().steps as readonly JsonObject[];
    const edits: readonly (readonly JsonObject[])[] = [
      [],
      [{ ...step, identity: "team/ml" }],
      [step ?? {}, { ...step, identity: "team/ml" }],
    ];
    for (const steps of edits)
      expect(refused(parseSignedPlan(forged(fileOf(), { steps })), { signer: stranger })?.message).toBe(
        "the plan was edited after it was made",
      );
  });

  test("is recognised with another key by what contradicts itself", () => {
    const summary = { ...(fileOf().summary as JsonObject), update: 2 };
    expect(refused(parseSignedPlan(forged(fileOf(), { summary })), { signer: stranger })).toMatchObject({
      code: "stale",
      message: "the plan is stale: the plan itself has changed since it was made",
      moved: ["its summary does not count its steps"],
    });
  });
});
