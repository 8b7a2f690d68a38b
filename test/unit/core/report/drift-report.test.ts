import { describe, expect, test } from "vitest";
import type { Live } from "../../../../src/core/live.ts";
import type { Manifest } from "../../../../src/core/manifest.ts";
import { makePlan } from "../../../../src/core/plan/make-plan.ts";
import { makeDrift } from "../../../../src/core/report/drift-report.ts";
import { type Around, declare, planInput, present, recorded, service } from "../given.ts";

const identity = "service/c1:ws1/api";
const absent: Live = { state: "absent" };

function drift(manifests: readonly Manifest[], around: Around) {
  const input = planInput(manifests, around);
  return makeDrift({ ...input, standsIn: input.recorded.size === 0, planned: makePlan(input) });
}

const one = (live: Live, around: Around = {}) =>
  drift([declare(service({ replicas: 2 }))], { ...around, live: { [identity]: live } });

describe("drift", () => {
  const receipt = recorded(service({ replicas: 2 }));

  test("is what moved in live since it was recorded, and not what moved in git", () => {
    const report = drift([declare(service({ replicas: 2, service_account: "new" }))], {
      live: { [identity]: present(service({ replicas: 5 })) },
      recorded: [receipt],
    });
    expect(report.drift).toEqual([
      {
        identity,
        kind: "service",
        file: "api.yaml",
        line: 1,
        state: "drifted",
        changes: [{ path: "/replicas", label: "replicas", before: 2, after: 5, cause: "drift", diff: null }],
      },
    ]);
    expect(report.summary).toEqual({
      drifted: 1,
      unrecorded: 0,
      absent: 0,
      unchanged: 0,
      unknown: 0,
      orphan: 0,
      invalid: 0,
    });
  });

  test("is not what the server made of it when it was written", () => {
    const returned = service({ replicas: 2, service_account: "added" });
    expect(
      one(present(returned), { recorded: [recorded(service({ replicas: 2 }), { returned })] }).summary,
    ).toMatchObject({
      drifted: 0,
      unchanged: 1,
    });
  });

  test("is found by the manifest where nothing is recorded, without what only the server adds", () => {
    const report = one(present(service({ replicas: 5, allow_interception: false })));
    expect(report.drift).toMatchObject([
      {
        state: "unrecorded",
        changes: [{ path: "/replicas", label: "replicas", before: 2, after: 5, cause: "unrecorded", diff: null }],
      },
    ]);
    expect(one(present(service({ replicas: 2, allow_interception: false }))).summary).toMatchObject({
      unchanged: 1,
      drifted: 0,
    });
  });

  test("is not what is declared, was never written and is not there: that is only new", () => {
    const other = recorded(service({ name: "other" }));
    const live = { [identity]: absent, [other.identity]: present(service({ name: "other" })) };
    const manifests = [declare(service({ replicas: 2 })), declare(service({ name: "other" }))];
    expect(drift(manifests, { recorded: [other], live }).summary).toMatchObject({ absent: 0, unchanged: 1 });
    expect(drift(manifests, { live }).summary).toMatchObject({ absent: 1, unchanged: 1 });
  });

  test("is found although the control plane refuses the manifest", () => {
    const dryRuns = new Map([[identity, { state: "refused", message: "no" } as const]]);
    expect(one(present(service({ replicas: 5 })), { dryRuns }).summary.unrecorded).toBe(1);
  });

  test("is not what a rule ignores", () => {
    const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
    expect(one(present(service({ replicas: 5 })), { recorded: [receipt], ignore }).drift).toEqual([]);
  });

  test("F77 calls a field that was only ever suppressed unrecorded, beside what drifted", () => {
    const receipt = recorded(service({ service_account: "ours" }), { unrecorded: [["replicas"]] });
    const report = drift([declare(service({ replicas: 2, service_account: "ours" }))], {
      live: { [identity]: present(service({ replicas: 5, service_account: "theirs" })) },
      recorded: [receipt],
    });
    expect(report.drift).toMatchObject([
      {
        state: "drifted",
        changes: [
          { path: "/replicas", before: 2, after: 5, cause: "unrecorded" },
          { path: "/service_account", before: "ours", after: "theirs", cause: "drift" },
        ],
      },
    ]);
  });

  test("names what is gone, what cannot be read and what is an orphan", () => {
    const gone = recorded(service({ name: "gone" }));
    expect(one(absent, { recorded: [receipt] }).drift).toMatchObject([{ state: "absent", changes: [] }]);
    expect(one({ state: "unknown", reason: "no-read" }, { recorded: [receipt] }).drift).toMatchObject([
      { state: "unknown" },
    ]);
    const orphan = drift([], { recorded: [gone], live: { [gone.identity]: present(gone.written) } });
    expect(orphan.drift).toEqual([
      {
        identity: gone.identity,
        kind: "service",
        file: null,
        line: null,
        state: "orphan",
        changes: [],
        orphan: { recorded: true, isLive: true },
      },
    ]);
    expect(drift([], { recorded: [gone], live: { [gone.identity]: absent } }).drift).toEqual([]);
  });

  test("looks at what is declared and broken all the same", () => {
    const report = drift([], {
      recorded: [receipt],
      declared: [identity],
      live: { [identity]: present(service({ replicas: 5 })) },
    });
    expect(report.drift).toMatchObject([{ state: "drifted", file: null, changes: [{ path: "/replicas" }] }]);
  });

  test("shows no secret", () => {
    const secret = (value: string) => service({ env: { DB_PASSWORD: value } });
    const report = drift([declare(secret("CANARY-1"))], {
      live: { [identity]: present(secret("CANARY-2")) },
      recorded: [recorded(secret("CANARY-1"))],
    });
    expect(report.drift).toHaveLength(1);
    expect(JSON.stringify(report)).not.toContain("CANARY");
  });

  test("has exactly the fields that the contract names", () => {
    const report = one(present(service({ replicas: 5 })), { complete: false });
    expect(Object.keys(report)).toEqual(["format_version", "server", "complete", "summary", "drift", "diagnostics"]);
    expect(Object.keys(report.summary)).toEqual([
      "drifted",
      "unrecorded",
      "absent",
      "unchanged",
      "unknown",
      "orphan",
      "invalid",
    ]);
    expect(Object.keys(report.drift[0] ?? {})).toEqual(["identity", "kind", "file", "line", "state", "changes"]);
    expect(report.complete).toBe(false);
  });
});

describe("a drift report", () => {
  const receipt = recorded(service({ replicas: 2 }));
  const by = { createdBy: "id-7", author: "user:ann", createdAt: "2026-11-20T10:00:00.000Z", version: 2 };

  test("names who wrote what drifted", () => {
    const { drift: found } = one(present(service({ replicas: 5 }), by), { recorded: [receipt] });
    expect(found[0]?.changedBy).toEqual({ subject: by.author, subjectId: by.createdBy, at: by.createdAt });
  });

  test("compares with what was live before, where that is known without a record", () => {
    const own = (manifest: Manifest["value"] | null) => new Map([[identity, { manifest }]]);
    const strategy = { type: "rolling_update", max_surge_percentage: 25, max_unavailable_percentage: 25 };
    const live = present(service({ replicas: 5, allow_interception: false, rollout_strategy: strategy }));
    expect(one(live, { own: own(service({ replicas: 4 })) }).drift).toMatchObject([
      { state: "drifted", changes: [{ path: "/replicas", before: 4, after: 5, cause: "drift" }] },
    ]);
    expect(one(live, { own: own(service({ replicas: 5 })) }).summary).toMatchObject({ drifted: 0, unchanged: 1 });
    expect(one(live, { own: own(null) }).drift).toMatchObject([{ state: "unrecorded" }]);
    const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
    expect(one(live, { own: own(service({ replicas: 4 })), ignore }).drift).toEqual([]);
  });

  test("takes what the server adds from a dry run", () => {
    const returned = service({ replicas: 2, service_account: "added" });
    const dryRuns = new Map([
      [identity, { state: "answered", row: { key: "", id: "id-1", manifest: returned, stamp: "" } } as const],
    ]);
    const own = new Map([[identity, { manifest: service({ replicas: 4 }) }]]);
    const live = present(service({ replicas: 4, service_account: "added" }));
    expect(one(live, { own, dryRuns }).drift).toEqual([]);
    expect(one(live, { own }).drift).toMatchObject([{ state: "drifted" }]);
  });

  test("is of the selection where that is a part, without orphans and without what is broken", () => {
    const gone = recorded(service({ name: "a-gone" }));
    const around: Around = {
      recorded: [receipt, gone],
      declared: [identity],
      live: { [identity]: present(service({ replicas: 5 })), [gone.identity]: present(gone.written) },
    };
    const reportOf = (orphans: "listed" | "counted" | "none") => {
      const { drift: found, summary } = drift([], { ...around, orphans });
      return [found.map(({ state }) => state), summary.orphan];
    };
    expect(reportOf("listed")).toEqual([["orphan", "drifted"], 1]);
    expect(reportOf("counted")).toEqual([[], 1]);
    expect(reportOf("none")).toEqual([[], 0]);
  });

  test("lists resources in the order of their names, and counts each state", () => {
    const manifests = ["d", "c", "b", "a"].map((name) => declare(service({ name, replicas: 2 })));
    const lives: readonly Live[] = [
      { state: "unknown", reason: "no-read" },
      present(service({ name: "c", replicas: 5 })),
      absent,
      present(service({ name: "a", replicas: 2 })),
    ];
    const live = Object.fromEntries(manifests.map((manifest, at) => [manifest.identity, lives[at] ?? absent]));
    const report = drift(manifests, { live });
    expect(report.drift.map(({ identity: name, state }) => [name, state])).toEqual([
      ["service/c1:ws1/b", "absent"],
      ["service/c1:ws1/c", "unrecorded"],
      ["service/c1:ws1/d", "unknown"],
    ]);
    expect(report.summary).toEqual({
      ...{ drifted: 0, unrecorded: 1, absent: 1, unchanged: 1, unknown: 1, orphan: 0, invalid: 0 },
    });
  });

  test("is incomplete where manifests are refused, and counts what the token may not see", () => {
    const invalid = { identity, kind: "service", file: "api.yaml", line: 1, code: "required", message: "no" };
    const refused = one(present(service({ replicas: 2 })), { recorded: [receipt], refused: [invalid] });
    expect([refused.complete, refused.summary.invalid]).toEqual([false, 1]);
    const whole = one(present(service({ replicas: 2 })), { recorded: [receipt] });
    expect([whole.complete, whole.server]).toEqual([true, "http://server"]);
    const hidden = one({ state: "unknown", reason: "not-visible" });
    expect([hidden.summary.notVisible, hidden.summary.unknown]).toEqual([1, 1]);
  });

  test("takes what the server says to be in sync for unchanged, and what was not read for unknown", () => {
    const manifests = [declare(service({ replicas: 2 }))];
    const stateOf = (inSync: "live" | "ledger") => {
      const input = planInput(manifests, { recorded: [receipt] });
      return makeDrift({ ...input, inSync: new Map([[identity, inSync]]), standsIn: false, planned: makePlan(input) });
    };
    expect(stateOf("live")).toMatchObject({ drift: [], summary: { unchanged: 1 } });
    expect(stateOf("ledger").drift).toMatchObject([{ state: "unknown", changes: [] }]);
  });

  test("shows unrecorded fields among those that drifted, in the order of their labels", () => {
    const report = drift([declare(service({ replicas: 2, service_account: "ours", labels: { a: "1" } }))], {
      live: { [identity]: present(service({ replicas: 5, service_account: "theirs", labels: { a: "2" } })) },
      recorded: [recorded(service({ service_account: "ours", labels: { a: "1" } }), { unrecorded: [["replicas"]] })],
    });
    expect(report.drift[0]?.changes.map(({ label, cause }) => [label, cause])).toEqual([
      ["labels.a", "drift"],
      ["replicas", "unrecorded"],
      ["service_account", "drift"],
    ]);
  });
});
