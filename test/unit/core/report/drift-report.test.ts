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
