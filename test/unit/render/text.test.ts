import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { snapshotText } from "../../../src/commands/snapshots/load-snapshot.ts";
import type { Json } from "../../../src/contract/json.ts";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { splitIdentity } from "../../../src/core/manifest.ts";
import type { BlockedStep } from "../../../src/core/plan/blocked-steps.ts";
import { type Change, type Plan, type Step, summarise } from "../../../src/core/plan/plan.ts";
import {
  type ApplyReport,
  type DriftReport,
  type Outcome,
  summariseOutcomes,
} from "../../../src/core/report/report.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { type ApplyView, applyText, tokenLocationsText } from "../../../src/render/apply.ts";
import { diagnosticsText, validationText } from "../../../src/render/diagnostics.ts";
import { driftText } from "../../../src/render/drift.ts";
import { jsonText, printable, printableLines } from "../../../src/render/escape.ts";
import { outcomeLines } from "../../../src/render/outcome.ts";
import { choosePaint, coloured, type Paint, plain } from "../../../src/render/paint.ts";
import { planText, unmanagedText } from "../../../src/render/plan.ts";
import { showValue } from "../../../src/render/show-value.ts";
import { runnerCommandsIn } from "../../support/runner-commands.ts";

const step = (identity: string, fields: Partial<Step> = {}): Step => ({
  action: "create",
  kind: splitIdentity(identity).kind,
  identity,
  file: `${splitIdentity(identity).kind}.yaml`,
  line: 1,
  wave: 0,
  changes: [],
  patch: [],
  reason: null,
  risks: [],
  causedBy: null,
  ...fields,
});

const planOf = (steps: readonly Step[], fields: Partial<Plan> = {}): Plan => ({
  format_version: "2.2",
  revision: null,
  server: "http://server",
  complete: true,
  summary: summarise(steps, 0),
  steps,
  diagnostics: [],
  checksum: "sha256:0",
  ...fields,
});

const blockedAs = (text: string): BlockedStep => ({
  identity: text,
  kind: text,
  reason: "refused",
  detail: text,
  message: text,
  needs: text,
  file: text,
  line: 1,
  column: 1,
});

const change = (label: string, before: Json, after: Json, cause: Change["cause"]): Change => ({
  path: `/${label.replaceAll(".", "/")}`,
  label,
  before,
  after,
  cause,
  diff: null,
});

const groupOf = ({ kind, identity }: Step) => kindOf(kind)?.group(splitIdentity(identity).key) ?? null;
const layout = { paint: plain, width: 80, rows: null, now: null, folds: true, next: null };
const shown = (plan: Plan, showUnchanged = false) =>
  planText(plan, { ...layout, groupOf, showUnchanged, detailOf: () => null, blocked: [], ignored: 0 });

const outcome = (identity: string, fields: Partial<Outcome> = {}): Outcome => ({
  identity,
  kind: splitIdentity(identity).kind,
  result: "created",
  file: "a.yaml",
  rollout: null,
  error: null,
  attempts: 1,
  ...fields,
});

const reportOf = (outcomes: readonly Outcome[]): ApplyReport => ({
  format_version: "2.2",
  revision: null,
  server: "http://server",
  summary: summariseOutcomes(outcomes),
  outcomes,
  diagnostics: [],
});

const emptySnapshot = {
  clusters: [],
  workspaces: [],
  teams: [],
  virtualAccounts: [],
  mlRepos: [],
  modelVersions: [],
  promptVersions: [],
  secretGroups: [],
  applications: [],
};

const placeOf = ({ error }: Outcome) => (error?.pointer === undefined ? null : "team.yaml:3:5");
const applyView: ApplyView = {
  paint: plain,
  width: 80,
  rows: null,
  stepOf: () => undefined,
  placeOf,
  wasShown: () => false,
};

/** Without colours and without lines of the files. */
const bare = { paint: plain, width: 80, excerptOf: () => null };

describe("a plan for people", () => {
  test("says everything before a summary, grouped in dependency order", () => {
    const steps = [
      step("team/ml", { action: "ensure" }),
      step("workspace/c1:ws1", { action: "keep", wave: 1 }),
      step("workspace/c1:ws2", { action: "block", wave: 1, reason: "read-only" }),
      step("service/c1:ws1/api", {
        action: "update",
        wave: 2,
        line: 3,
        changes: [
          change("env.DB_PASSWORD", "(sensitive)", "(sensitive)", "manifest"),
          change("replicas", 5, 2, "drift"),
          change("service_account", null, "runner", "manifest"),
        ],
      }),
      step("service/c1:ws1/web", { wave: 2 }),
      step("service/c1:ws1/old", {
        action: "orphan",
        file: null,
        line: null,
        orphan: {
          recorded: false,
          isLive: true,
          removedBy: { commit: "1a2b3c4d5e6f7a8b", author: "Ada <ada@example.com>", at: "2026-11-20T10:00:00Z" },
        },
      }),
    ];
    expect(shown(planOf(steps, { summary: summarise(steps, 1) }))).toBe(
      `Plan for http://server: live → git

Blocked: 1
! workspace/c1:ws2                      workspace.yaml:1
    read-only: this control plane has no operation that writes this kind: change
    it there by hand

(tenant)
? team/ml                               team.yaml:1

c1:ws1
~ service/api                           service.yaml:3
    manifest   env.DB_PASSWORD  (sensitive) → (sensitive, changed)
    drift      replicas         5 → 2
    manifest   service_account  (none) → runner
+ service/web                           service.yaml:1

Orphans: still running; Holdfast never deletes: remove it on the platform
○ service/c1:ws1/old
    removed by 1a2b3c4d5e6f, Ada <ada@example.com>, 2026-11-20T10:00:00Z

Plan: 1 to create, 1 to update, 1 to ensure, 1 blocked, 1 unchanged; 1 drifted,
1 orphan
`,
    );
  });

  test("is one line where nothing changes", () => {
    const steps = [step("team/ml", { action: "keep", reason: "by-ledger" }), step("cluster/c1", { action: "keep" })];
    expect(shown(planOf(steps))).toBe("Plan: nothing to do, 2 unchanged\n");
    expect(shown(planOf(steps, { complete: false }))).toBe(
      "Plan: nothing to do that is known, 2 unchanged (incomplete: live could not be\nread in full)\n",
    );
  });

  test("counts the fields that a rule leaves alone", () => {
    const view = { ...layout, groupOf, showUnchanged: false, detailOf: () => null, blocked: [] };
    const line = (ignored: number) => planText(planOf([step("cluster/c1", { action: "keep" })]), { ...view, ignored });
    expect([line(1), line(2)]).toEqual([
      "Plan: nothing to do, 1 unchanged; 1 field ignored\n",
      "Plan: nothing to do, 1 unchanged; 2 fields ignored\n",
    ]);
  });

  test("shows what is unchanged on request", () => {
    expect(shown(planOf([step("cluster/c1", { action: "keep" })]), true)).toMatch(/^= cluster\/c1 +cluster\.yaml:1$/m);
  });
});

describe("an apply's report for people", () => {
  test("lists every outcome but the unchanged ones, with the reason where it did not go well", () => {
    const outcomes = [
      outcome("service/c1:ws1/api", { rollout: "succeeded" }),
      outcome("service/c1:ws1/web", { result: "updated", rollout: "failed" }),
      outcome("cluster/c1", { result: "unchanged" }),
      outcome("team/ml", {
        result: "failed",
        error: { code: "refused", message: "no such member", status: 422, pointer: "/members/0" },
      }),
      outcome("workspace/c1:ws1", {
        result: "blocked",
        error: { code: "dependency", message: "something it refers to was not written" },
      }),
    ];
    expect(applyText(reportOf(outcomes), applyView)).toBe(
      `  created   service/c1:ws1/api  rollout succeeded
  updated   service/c1:ws1/web  rollout failed
            it was written, and its rollout has failed
            → check it on the server; a corrected manifest starts a new rollout
  blocked   workspace/c1:ws1
            something it refers to was not written [dependency]
            → fix what it refers to, then run apply again
  failed    team/ml
            at team.yaml:3:5
            no such member [refused]
            → correct the manifest, then run apply again

Incomplete: 1 created, 1 updated, 1 failed, 1 blocked, 1 unchanged
`,
    );
  });

  test("says once what to do about several causes", () => {
    const blocked = (identity: string, message: string) =>
      outcome(identity, { result: "blocked", error: { code: "refused", message } });
    const outcomes = [blocked("team/a", "no secret a"), blocked("team/b", "no secret b")];
    expect(applyText(reportOf(outcomes), { ...applyView, placeOf: () => null })).toBe(
      `  blocked   team/a
            no secret a [refused]
  blocked   team/b
            no secret b [refused]
            → fix that, then run apply again

Incomplete: 2 blocked
`,
    );
  });

  test("says where to look for what holds a resource", () => {
    const held = outcome("team/a", { result: "blocked", error: { code: "held", message: "it is on hold" } });
    const shown = applyText(reportOf([held]), { ...applyView, placeOf: () => null });
    expect(shown).toContain("it is on hold [held]\n            → holdfast status shows what holds it\n");
  });

  test("is one line where all is well", () => {
    expect(applyText(reportOf([outcome("cluster/c1", { result: "unchanged" })]), applyView)).toBe(
      "Applied: 1 unchanged\n",
    );
    expect(applyText(reportOf([]), applyView)).toBe("Applied: nothing is declared\n");
  });
});

describe("a drift report for people", () => {
  const report = (drift: DriftReport["drift"], summary: Partial<DriftReport["summary"]> = {}): DriftReport => ({
    format_version: "2.2",
    server: "http://server",
    complete: true,
    summary: { drifted: 0, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0, ...summary },
    drift,
    diagnostics: [],
  });

  test("shows what was recorded and what live says", () => {
    const entry = {
      identity: "service/c1:ws1/api",
      kind: "service",
      file: "a.yaml",
      line: 3,
      state: "drifted",
      changes: [change("replicas", 2, 5, "drift")],
    } as const;
    const gone = { ...entry, identity: "service/c1:ws1/web", state: "absent", changes: [] } as const;
    const unknown = { ...entry, identity: "team/ml", state: "unknown", changes: [] } as const;
    expect(
      driftText(
        report([entry, gone, unknown], { drifted: 1, unrecorded: 0, absent: 1, unknown: 1, unchanged: 3 }),
        layout,
        "the manifests stand in",
      ),
    ).toBe(
      `Drift on http://server: recorded → live
the manifests stand in

drifted    service/c1:ws1/api               a.yaml:3
    drift      replicas  2 → 5
absent     service/c1:ws1/web               a.yaml:3

Drift: 1 drifted, 1 absent, 1 unknown, 3 unchanged
`,
    );
  });

  test("names who wrote live in full, and never cuts the time", () => {
    const entry = {
      identity: "service/c1:ws1/api",
      kind: "service",
      file: "a.yaml",
      line: 3,
      state: "unrecorded",
      changes: [
        change("image.image_uri", "registry.example.com/api:1.4.2", "registry.example.com/api:1.5.0", "unrecorded"),
      ],
    } as const;
    const shown = (subject: string) =>
      driftText(
        report([{ ...entry, changedBy: { subject, subjectId: "id", at: "2026-11-25T10:00:00.000Z" } }], {
          unrecorded: 1,
        }),
        layout,
        null,
      );
    expect(shown("virtualaccount:ci-deployer")).toContain(
      `               by virtualaccount:ci-deployer, 2026-11-25T10:00:00.000Z\n`,
    );
    const long = shown(`user:${"x".repeat(90)}@example.com`);
    expect(long).toMatch(/by user:x+…x+@example\.com, 2026-11-25T10:00:00\.000Z\n/);
    for (const line of long.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("is one line where nothing moved", () => {
    expect(driftText(report([], { unchanged: 3 }), layout, null)).toBe("Drift: none; 3 unchanged\n");
  });
});

describe("diagnostics for people", () => {
  const fault = (fields: Partial<Diagnostic> = {}): Diagnostic => ({
    severity: "error",
    code: "unknown-field",
    summary: "there is no field replica",
    detail: null,
    file: "b.yaml",
    line: 3,
    column: 5,
    ...fields,
  });

  test("name place, severity, sentence and code, in file order", () => {
    const text = diagnosticsText(
      [
        fault({ detail: "did you mean replicas?" }),
        fault({ file: "a.yaml", severity: "warning" }),
        fault({ file: null, line: null, column: null }),
      ],
      bare,
    );
    expect(text).toBe(
      `error: there is no field replica [unknown-field]

a.yaml:3:5: warning: there is no field replica [unknown-field]

b.yaml:3:5: error: there is no field replica [unknown-field]
    did you mean replicas?
`,
    );
  });

  test("are a hundred at most, and the rest is counted", () => {
    const text = diagnosticsText(
      Array.from({ length: 105 }, (_, index) => fault({ line: index + 1 })),
      bare,
    );
    expect(text.split("\n")).toHaveLength(103);
    expect(text).toMatch(/\n\n… and 5 more errors\n$/);
    const warnings = Array.from({ length: 150 }, () => fault({ file: "a.yaml", severity: "warning" }));
    const mixed = diagnosticsText([...warnings, fault(), fault({ file: "c.yaml" })], bare);
    expect(mixed.match(/: error: /g)).toHaveLength(2);
    expect(mixed).toMatch(/^a\.yaml(?:.*\n)*\nb\.yaml.*\n\nc\.yaml.*\n\n… and 52 more warnings\n$/);
  });

  test("are summed up in one line", () => {
    const found = { files: 2, manifests: 2, declared: 2, errors: 0, warnings: 0, strict: false };
    expect(
      [
        found,
        { ...found, files: 1, warnings: 2 },
        { ...found, warnings: 2, strict: true },
        { ...found, declared: 3, errors: 1, warnings: 1 },
        { ...found, manifests: 0, declared: 0, errors: 2 },
      ].map((found) => validationText(found, 80)),
    ).toEqual([
      "2 manifests in 2 files: valid\n",
      "\n2 manifests in 1 file: valid, 2 warnings\n",
      "\n2 manifests in 2 files: 2 warnings, treated as errors\n",
      "\n2 of 3 manifests in 2 files are valid: 1 error, 1 warning\n",
      "\n0 valid manifests in 2 files: 2 errors\n",
    ]);
  });
});

describe("what could steer a terminal", () => {
  test.each([
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["\u001b[2K", "\\u001b[2K"],
    ["\u001b]8;;http://x\u001b\\link", "\\u001b]8;;http://x\\u001b\\link"],
    ["a\rb\bc\n", "a\\u000db\\u0008c\\u000a"],
    ["\u009b31m", "\\u009b31m"],
    ["\u202eevil\u2066", "\\u202eevil\\u2066"],
    ["zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\ud800", "\\ud800"],
    ["ünïcödé 漢字 🚀", "ünïcödé 漢字 🚀"],
  ])("%j is shown as %s", (text, safe) => expect(printable(text)).toBe(safe));

  test("S15: is nowhere in any report, whatever the names and values are", () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\u001b", "\r", "\b", "\u0007", "\u202e", "\u200b", "\u009b", "\u2028", "\ud800"),
        fc.string({ minLength: 1, maxLength: 1 }),
      ),
    });
    const unsafe = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;
    fc.assert(
      fc.property(nasty, (text) => {
        const { texts, reports } = renderedWith(text);
        for (const shownText of [...texts, ...reports.map(jsonText)]) expect(shownText).not.toMatch(unsafe);
      }),
    );
  });
});

/** Reports in which every name, value and message is the same text, and all that is printed of them. */
function renderedWith(text: string, paint: Paint = plain) {
  const changes = [change(text, text, [text, { [text]: text }], "drift")];
  const plan = planOf([
    step(`service/${text}`, { action: "update", file: text, changes }),
    step(text, { action: "block", reason: "refused", file: text }),
    step(text, { action: "orphan", file: null }),
  ]);
  const failed = outcome(text, { result: "failed", error: { code: text, message: text, pointer: text } });
  const drift: DriftReport = {
    format_version: "2.2",
    server: text,
    complete: true,
    summary: { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 },
    drift: [{ identity: text, kind: text, file: text, line: 1, state: "drifted", changes }],
    diagnostics: [],
  };
  const told = { severity: "error", code: text, summary: text, detail: text, file: text, line: 1, column: 1 } as const;
  const view = {
    ...layout,
    paint,
    groupOf: () => text,
    showUnchanged: true,
    detailOf: () => text,
    blocked: [blockedAs(text)],
    ignored: 0,
  };
  const snapshot = { ...emptySnapshot, clusters: [{ name: text }] };
  const texts = [
    planText(plan, view),
    applyText(reportOf([failed]), { ...applyView, paint, placeOf: () => text }),
    outcomeLines(failed, { paint, width: 80, stepOf: () => step(text, { action: "update", changes }) }).join("\n"),
    driftText(drift, { ...layout, paint }, text),
    diagnosticsText([told, { ...told, file: null }], {
      paint,
      width: 80,
      excerptOf: () => ({ line: text, column: 1 }),
    }),
    unmanagedText({ identities: [text], unread: [] }, { paint, width: 80 }),
    tokenLocationsText(
      Array.from({ length: 12 }, () => ({ identity: text, location: `${text}/${text}` })),
      80,
    ),
    snapshotText({ snapshot, unseen: [text] }),
    printableLines(`${text}\n${text}`),
  ];
  return { texts, reports: [plan, drift, reportOf([failed]), { diagnostics: [told], [text]: [text] }] };
}

describe("what would command a CI runner", () => {
  test.each([
    ["::error file=a::b", "\\u003a:error file=a::b"],
    [" \u00a0::add-mask::x", " \u00a0\\u003a:add-mask::x"],
    ["see ::set-output name=a::b", "see \\u003a:set-output name=a::b"],
    ["##[group]a", "\\u0023#[group]a"],
    ["a ##vso[task.setvariable variable=a]b", "a \\u0023#vso[task.setvariable variable=a]b"],
    ["###[a", "#\\u0023#[a"],
    ["##teamcity[a]", "\\u0023#teamcity[a]"],
    ["ends with ##", "ends with \\u0023#"],
    ["section_start:1:a\r\u001b[0K", "section_start\\u003a1:a\\u000d\\u001b[0K"],
    ["section_end:1:a", "section_end\\u003a1:a"],
    [
      "arn:aws:iam::1:role/a http://[::1]:80 a::b ## heading #1 [a]",
      "arn:aws:iam::1:role/a http://[::1]:80 a::b ## heading #1 [a]",
    ],
  ])("S44 %j is shown as %s", (text, safe) => expect(printable(text)).toBe(safe));

  test("S44 is nowhere in any report, whatever the names and values are", () => {
    const pieces = [
      "::",
      ":",
      "#",
      "##",
      "[",
      "]",
      " ",
      "\u00a0",
      "\n",
      "\r",
      "\t",
      "\u001b[0K",
      "\\",
      '"',
      "error",
      "a b",
    ];
    const commands = ["::error::", "::set-output name=a::b", "##[group]", "##vso[task.complete]", "##teamcity[a]"];
    const marks = ["section_start:1:a\r\u001b[0K", "section_end:1:a"];
    const piece = fc.constantFrom(...pieces, ...commands, ...marks);
    const nasty = fc.array(piece, { maxLength: 8 }).map((all) => all.join(""));
    fc.assert(
      fc.property(nasty, fc.constantFrom(plain, coloured), (text, paint) => {
        const { texts, reports } = renderedWith(text, paint);
        expect([...texts, ...reports.map(jsonText)].flatMap(runnerCommandsIn)).toEqual([]);
        for (const report of reports) expect(JSON.parse(jsonText(report))).toEqual(JSON.parse(JSON.stringify(report)));
      }),
      { numRuns: 500, examples: [["::error::::::error::::::set-output name=a::bsection_end:1:a :", plain]] },
    );
  });

  test("S44 would be seen by this test", () => {
    const seen = ["a\n  ::error::b", "a ##[b", "##vso[a]", "\u001b[1m::a::", "x section_start:1:a", "a::b::c\n:: a"];
    expect(seen.map((text) => runnerCommandsIn(text).length)).toEqual([1, 1, 1, 1, 1, 0]);
  });
});

describe("a value", () => {
  test("is shown in one line, quoted where it could be taken for something else, and cut where it is very long", () => {
    expect([null, "(sensitive)", "a\nb", 1.5, true, [1, "x"], { a: 1 }].map(showValue)).toEqual([
      "(none)",
      "(sensitive)",
      '"a\\nb"',
      "1.5",
      "true",
      '[1,"x"]',
      '{"a":1}',
    ]);
    expect(["runner", "5.0.1", "12", "true", "", "a b", " a"].map((text) => showValue(text))).toEqual([
      "runner",
      "5.0.1",
      '"12"',
      '"true"',
      '""',
      "a b",
      '" a"',
    ]);
    expect(showValue("x".repeat(5000))).toMatch(/^x{4096}…$/);
    expect(showValue(`a${"🚀".repeat(5000)}`)).not.toMatch(/\p{Cs}/u);
  });
});

describe("colours", () => {
  const decide = (env: Record<string, string>, isTTY: boolean, noColor = false) =>
    choosePaint({ isTTY }, env, { noColor }) === coloured;

  test("follow the flag, then NO_COLOR, then FORCE_COLOR, then the terminal", () => {
    expect([decide({}, true), decide({}, false)]).toEqual([true, false]);
    expect([decide({ NO_COLOR: "1" }, true), decide({ NO_COLOR: "" }, true)]).toEqual([false, true]);
    expect([decide({ FORCE_COLOR: "1" }, false), decide({ FORCE_COLOR: "0" }, false)]).toEqual([true, false]);
    expect(decide({ FORCE_COLOR: "1" }, true, true)).toBe(false);
  });

  test("add nothing but colour", () => {
    const plan = planOf([step("cluster/c1"), step("team/ml", { action: "block", reason: "read-only" })]);
    const painted = planText(plan, {
      ...layout,
      paint: coloured,
      groupOf,
      showUnchanged: false,
      detailOf: () => null,
      blocked: [],
      ignored: 0,
    });
    expect(painted).not.toBe(shown(plan));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours
    expect(painted.replace(/\u001b\[\d+m/g, "")).toBe(shown(plan));
  });
});

describe("JSON", () => {
  test("carries the report and nothing else, with a newline at its end", () => {
    const report = reportOf([
      outcome("cluster/c1", {
        error: { code: "refused", message: "no", status: 422, pointer: "/name" },
        result: "failed",
      }),
    ]);
    const text = jsonText(report);
    expect(JSON.parse(text)).toEqual(report);
    expect(text.endsWith("}\n")).toBe(true);
    expect(Object.keys(report)).toEqual(["format_version", "revision", "server", "summary", "outcomes", "diagnostics"]);
    expect(Object.keys(report.summary)).toEqual([
      "created",
      "updated",
      "unchanged",
      "skipped",
      "blocked",
      "failed",
      "unknown",
      "invalid",
    ]);
    expect(Object.keys(report.outcomes[0] ?? {})).toEqual([
      "identity",
      "kind",
      "result",
      "file",
      "rollout",
      "error",
      "attempts",
    ]);
  });
});
