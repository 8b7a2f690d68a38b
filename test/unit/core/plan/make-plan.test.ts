import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { OperationName } from "../../../../src/contract/operations.ts";
import type { DryRunReply } from "../../../../src/core/decide/decision.ts";
import type { Diagnostic } from "../../../../src/core/diagnostic.ts";
import { withServerSide } from "../../../../src/core/diff/server-side-changes.ts";
import type { Live } from "../../../../src/core/live.ts";
import { blockedSteps } from "../../../../src/core/plan/blocked-steps.ts";
import {
  incompleteIfInvalid,
  makePlan,
  withBlockDiagnostics,
  withChangePlaces,
  withGateAnswers,
  withGuards,
  withNotChecked,
  withPolicyFindings,
  withRunWarnings,
} from "../../../../src/core/plan/make-plan.ts";
import { processorMs } from "../../../support/processor-time.ts";
import {
  type Around,
  against,
  causes,
  declare,
  NOON,
  only,
  plan,
  planInput,
  present,
  prompt,
  recorded,
  service,
} from "../given.ts";

const absent: Live = { state: "absent" };
const unread: Live = { state: "unknown", reason: "no-read" };
const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1" };
const cluster = { type: "cluster", name: "c1", cluster_type: "generic" };
const team = { type: "team", name: "ml", members: ["a@x.io"] };
const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "t", resource_type: "tenant", role_id: "tenant-member" }],
};
const model = { type: "model-version", name: "m", ml_repo: "r", source: { type: "platform" } };
const repo = { type: "ml-repo", name: "r" };
const without = (...names: OperationName[]) => ({
  has: (name: OperationName) => !names.includes(name),
  registers: null,
});
const refused = (message: string): DryRunReply => ({ state: "refused", message });

describe("what is absent", () => {
  test("is created with all that the manifest says", () => {
    expect(against(service(), absent)).toMatchObject({
      action: "create",
      changes: [{ path: "", before: null, after: service() }],
      patch: [],
      reason: null,
    });
  });

  test("is created again and counted as drift where it was recorded", () => {
    const { plan: made } = plan([declare(service())], {
      live: { "service/c1:ws1/api": absent },
      recorded: [recorded(service())],
    });
    expect(made.summary).toMatchObject({ create: 1, drift: 1 });
  });

  test("is blocked as read-only where no operation writes it", () => {
    const step = against(workspace, absent, { capabilities: without("putWorkspace") });
    expect(step).toMatchObject({ action: "block", reason: "read-only" });
  });
});

describe("what a token cannot see", () => {
  const unseen: Live = { state: "unknown", reason: "not-visible" };
  const some = { tenant: "acme", roles: [{ resourceType: "cluster", resourceFqn: "c9", roleId: "cluster-viewer" }] };

  test("S65 is forbidden, recorded or not, and the plan names the role that would show it if it exists", () => {
    for (const receipts of [[], [recorded(service())]]) {
      const step = against(service(), unseen, { sight: some, recorded: receipts });
      expect(step).toMatchObject({
        action: "block",
        reason: "forbidden",
        decision: { detail: "workspace-viewer on workspace c1:ws1 would show it if it exists", drifted: false },
      });
    }
    const byRole = [team, cluster, repo, prompt()].map((one) =>
      against(one, unseen, { sight: some }).decision.detail?.replace(" would show it if it exists", ""),
    );
    expect(byRole).toEqual([
      "tenant-viewer on tenant acme",
      "cluster-viewer on cluster c1",
      "ml-repo-viewer on ml-repo r",
      "ml-repo-viewer on ml-repo r",
    ]);
  });

  test("S65 makes a plan incomplete, which names how many, kinds, and which role would show them", () => {
    const all = [team, cluster, service()].map((one) => declare(one));
    const live = Object.fromEntries(all.map(({ identity }) => [identity, unseen]));
    const { plan: made } = plan(all, { live, sight: some, outOfScope: 1 });
    expect(made).toMatchObject({ complete: false, summary: { block: 3, notVisible: 3 } });
    expect(made.diagnostics[0]).toMatchObject({
      code: "not-visible",
      severity: "error",
      summary: `3 of 4 not visible to this token: 1 × cluster, 1 × service, 1 × team; cluster-viewer on cluster c1, workspace-viewer on workspace c1:ws1, tenant-viewer on tenant acme would show those that exist`,
    });
    const more = [...all, declare(repo)];
    const wide = plan(more, { live: { ...live, "ml-repo/r": unseen }, sight: some }).plan;
    expect(wide.diagnostics[0]?.summary).toMatch(/; tenant-viewer on tenant acme would show those that exist$/);
  });

  test("S65 counts what a selection names itself", () => {
    const all = [declare(cluster), declare(service())];
    const live = Object.fromEntries(all.map(({ identity }) => [identity, unseen]));
    const onlyReferredTo = new Set(["cluster/c1"]);
    const { summary, diagnostics } = plan(all, { live, sight: some, onlyReferredTo }).plan;
    expect(summary.notVisible).toBe(1);
    expect(diagnostics[0]).toEqual({
      severity: "error",
      code: "not-visible",
      summary:
        "1 of 2 not visible to this token: 1 × service; workspace-viewer on workspace c1:ws1 would show those that exist",
      detail:
        "the plan is not complete: give the token that role, or select what it sees by path, --kind or --only; what does not exist is created by a token with that role, or on the control plane itself",
      ...{ file: null, line: null, column: null },
    });
    expect(plan([declare(cluster)], { live, sight: some, onlyReferredTo }).plan.complete).toBe(true);
  });

  test("S65 counts where no roles are told only if a documented operation reads the kind", () => {
    const refused = new Map([["team/ml", { state: "forbidden" } as const]]);
    const unread = plan([declare(team)], {
      live: { "team/ml": { state: "unknown", reason: "no-read" } },
      dryRuns: refused,
    });
    expect(unread.plan).toMatchObject({ complete: true, steps: [{ action: "block", reason: "forbidden" }] });
    expect(plan([declare(cluster)], { live: { "cluster/c1": unseen } }).plan.complete).toBe(false);
  });

  test("S65 is forbidden in an invisible parent, and not blocked for that parent's sake", () => {
    const both = [declare(workspace), declare(service())];
    const live = { "workspace/c1:ws1": unseen, "service/c1:ws1/api": unseen };
    expect(plan(both, { live }).plan.steps.map(({ reason }) => reason)).toEqual(["forbidden", "forbidden"]);
  });

  test("S65 a refused dry run hides nothing that is known to be absent", () => {
    const dryRuns = new Map([["service/c1:ws1/api", { state: "forbidden" } as const]]);
    const around = { live: { "workspace/c1:ws1": present(workspace) }, dryRuns };
    expect(against(service(), absent, around)).toMatchObject({ action: "create", reason: null });
  });
});

describe("a blocked step beside a base", () => {
  const live: Live = { state: "unknown", reason: "not-visible" };

  test("shows what the change under review does, although live is not known", () => {
    const base = new Map([["service/c1:ws1/api", service({ replicas: 1 })]]);
    expect(against(service({ replicas: 3 }), live, { base })).toMatchObject({
      action: "block",
      causedBy: "change",
      changes: [{ path: "/replicas", before: 1, after: 3, cause: "manifest" }],
      patch: [],
    });
    expect(against(service({ replicas: 1 }), live, { base }).changes).toEqual([]);
    expect(against(service(), live, { base: new Map() }).changes).toMatchObject([{ path: "", after: service() }]);
    expect(against(service({ replicas: 3 }), live).changes).toEqual([]);
  });
});

describe("what is created beside a base", () => {
  test("is drift where it was recorded or applied, pending where the base has it, and of this change otherwise", () => {
    const identity = "service/c1:ws1/api";
    const base = new Map([[identity, service()]]);
    const causeOf = (around: Around) => against(service(), absent, around).changes[0]?.cause;
    expect([{}, { base: new Map() }, { base: new Map([[identity, service({ replicas: 2 })]]) }].map(causeOf)).toEqual([
      "manifest",
      "manifest",
      "manifest",
    ]);
    expect([{ base }, { base, applied: new Map() }].map(causeOf)).toEqual(["pending", "pending"]);
    expect([{ base, applied: base }, { recorded: [recorded(service())] }].map(causeOf)).toEqual(["drift", "drift"]);
    expect(causeOf({ applied: base, base: new Map() })).toBe("manifest");
  });
});

describe("a dry run of what is new", () => {
  const dryRuns = new Map([
    ["service/c1:ws1/api", { state: "refused", message: "no such secret", pointer: "/mounts/0/secret_fqn" } as const],
  ]);

  test("blocks it where it is refused, and says where", () => {
    const manifest = declare(service());
    const first = makePlan(planInput([manifest], { live: { "service/c1:ws1/api": absent }, dryRuns }));
    expect(first.decisions.get(manifest.identity)?.pointer).toBe("/mounts/0/secret_fqn");
    const blocked = blockedSteps(
      [{ manifest, position: { file: manifest.file, line: 7, column: 9 } }],
      first.decisions,
    );
    const { plan: made } = withBlockDiagnostics(first, blocked);
    expect(made.steps).toMatchObject([{ action: "block", reason: "refused" }]);
    expect(made.checksum).toBe(first.plan.checksum);
    expect(made.diagnostics).toMatchObject([{ detail: "/mounts/0/secret_fqn: no such secret", line: 7, column: 9 }]);
  });

  test("is counted where it was not made, and leaves the checksum as it is", () => {
    const made = plan([declare(service())], { live: { "service/c1:ws1/api": absent } });
    const reason = { reason: "depends-on", on: ["workspace/c1:ws1"] } as const;
    const told = withNotChecked(made, new Map([["service/c1:ws1/api", reason]]));
    expect(told.plan.steps[0]?.notChecked).toEqual(reason);
    expect(told.plan.summary.notChecked).toBe(1);
    expect(told.plan.checksum).toBe(made.plan.checksum);
  });
});

describe("what cannot be read", () => {
  test("is ensured where nothing is recorded", () => {
    expect(against(team, unread)).toMatchObject({
      action: "ensure",
      reason: null,
      risks: expect.arrayContaining(["adopts"]),
    });
  });

  test("is kept by the ledger where it equals what was written", () => {
    expect(against(team, unread, { recorded: [recorded(team)] })).toMatchObject({
      action: "keep",
      reason: "by-ledger",
    });
  });

  test("is kept by the ledger for 24 hours and ensured after them", () => {
    const day = 24 * 60 * 60 * 1000;
    const at = (ago: number) => against(team, unread, { recorded: [recorded(team, { at: NOON - ago })] }).action;
    expect([at(day), at(day + 1)]).toEqual(["keep", "ensure"]);
  });

  test("is ensured at once where something recorded and declared is gone", () => {
    const gone = recorded(service({ name: "gone" }));
    const { decisions } = plan([declare(team)], {
      live: { "team/ml": unread, [gone.identity]: absent },
      recorded: [recorded(team), gone],
      declared: [gone.identity],
    });
    expect(decisions.get("team/ml")?.action).toBe("ensure");
  });

  test("is not sent again where something recorded has left the source and live", () => {
    const gone = recorded(service({ name: "gone" }));
    const { plan: made } = plan([declare(team)], {
      live: { "team/ml": unread, [gone.identity]: absent },
      recorded: [recorded(team), gone],
    });
    expect(made.steps).toMatchObject([{ identity: "team/ml", action: "keep", reason: "by-ledger" }]);
  });

  test("is updated where the manifest moved, by its cause and against the recorded returned", () => {
    const before = { ...team, members: ["a@x.io", "b@x.io"] };
    const step = against(team, unread, { recorded: [recorded(before)] });
    expect(step).toMatchObject({
      action: "update",
      changes: [{ path: "/members/1", label: "members[b@x.io]", before: "b@x.io", after: null, cause: "manifest" }],
    });
  });

  test("S65 is forbidden where only a writer could have looked, and nothing is recorded", () => {
    const live: Live = { state: "unknown", reason: "not-visible" };
    expect(against(cluster, live)).toMatchObject({ action: "block", reason: "forbidden" });
    const dryRuns = new Map([["team/ml", { state: "forbidden" } as const]]);
    expect(against(team, unread, { dryRuns })).toMatchObject({ action: "block", reason: "forbidden" });
    expect(against(team, unread, { dryRuns, recorded: [recorded(team)] })).toMatchObject({ action: "keep" });
  });

  test("is blocked where the read failed, and decides nothing", () => {
    const live: Live = { state: "unknown", reason: "unreadable", detail: "500" };
    const step = against(service(), live, { recorded: [recorded(service({ replicas: 2 }))] });
    expect(step).toMatchObject({ action: "block", reason: "unreadable", decision: { detail: "500" } });
  });
});

describe("an account that is disabled for good", () => {
  const since = "2026-11-21T09:30:00.000Z";

  test("is blocked, whether it equals its manifest or not", () => {
    const disabled = present(account, { disabledAt: since });
    for (const desired of [account, { ...account, expiration_date: "2027-01-01" }]) {
      const step = against(desired, disabled, { recorded: [recorded(desired)] });
      expect(step).toMatchObject({ action: "block", reason: "disabled", decision: { detail: `since ${since}` } });
    }
  });

  test("is blocked where only a dry run shows it", () => {
    const dryRuns = new Map([
      ["virtual-account/ci", { state: "refused", message: "it is disabled", code: "disabled" } as const],
    ]);
    expect(against(account, unread, { dryRuns })).toMatchObject({ action: "block", reason: "disabled" });
  });
});

describe("a dry run that may not be made", () => {
  test("does not hide what live shows", () => {
    const dryRuns = new Map([["service/c1:ws1/api", { state: "forbidden" } as const]]);
    const step = against(service({ replicas: 2 }), present(service({ replicas: 5 })), { dryRuns });
    expect(step).toMatchObject({ action: "update", changes: [{ path: "/replicas", before: 5, after: 2 }] });
  });
});

describe("a manifest that the control plane refuses", () => {
  const identity = "service/c1:ws1/api";
  const desired = service({ replicas: 2, env: { DB_PASSWORD: "CANARY-77" } });

  test("is blocked with what the control plane said, and still shows its changes", () => {
    const dryRuns = new Map([[identity, refused("too many replicas")]]);
    const step = against(desired, present(service({ replicas: 1 })), { dryRuns });
    expect(step).toMatchObject({ action: "block", reason: "refused", decision: { detail: "too many replicas" } });
    expect(step.changes.map(({ path }) => path)).toEqual(["/env/DB_PASSWORD", "/replicas"]);
  });

  test("never carries the manifest's secrets out in the server's words", () => {
    const live: Live = { state: "unknown", reason: "refused", detail: "CANARY-77 is no good value" };
    const { plan: made } = plan([declare(desired)], { live: { [identity]: live } });
    expect(JSON.stringify(made)).not.toContain("CANARY");
    expect(made.diagnostics).toMatchObject([{ code: "refused", detail: "(sensitive) is no good value" }]);
  });

  test("is not blocked where nothing is to be done anyway", () => {
    const dryRuns = new Map([[identity, refused("no")]]);
    expect(against(desired, present(desired), { dryRuns }).action).toBe("keep");
  });

  test("is the missing reference's fault where one explains it", () => {
    const bound = { ...workspace, collaborators: [{ subject: "team:nobody", role_id: "workspace-viewer" }] };
    const step = against(bound, present(workspace), {
      live: { "team/nobody": absent },
      dryRuns: new Map([["workspace/c1:ws1", refused("unknown team")]]),
    });
    expect(step).toMatchObject({ action: "block", reason: "reference-absent" });
  });
});

describe("references", () => {
  const both = [declare(workspace), declare(service())];

  test("block what refers to something blocked", () => {
    const { plan: made } = plan(both, {
      live: { "cluster/c1": present(cluster), "workspace/c1:ws1": absent, "service/c1:ws1/api": absent },
      capabilities: without("putWorkspace"),
    });
    expect(made.steps.map(({ action, reason }) => [action, reason])).toEqual([
      ["block", "read-only"],
      ["block", "dependency"],
    ]);
  });

  test("block what refers to something neither declared nor live", () => {
    const { plan: made } = plan([declare(service())], {
      live: { "cluster/c1": present(cluster), "workspace/c1:ws1": absent, "service/c1:ws1/api": absent },
    });
    expect(made.steps).toMatchObject([{ action: "block", reason: "reference-absent" }]);
  });

  test("block what refers to an invalid manifest that is not live", () => {
    const around = {
      live: { "workspace/c1:ws1": absent, "service/c1:ws1/api": absent },
      invalid: new Set(["workspace/c1:ws1"]),
      declared: ["workspace/c1:ws1"],
    };
    expect(plan([declare(service())], around).plan.steps).toMatchObject([{ action: "block", reason: "dependency" }]);
  });

  test("do not block where the invalid manifest's resource is live", () => {
    const around = {
      live: { "workspace/c1:ws1": present(workspace), "service/c1:ws1/api": absent },
      invalid: new Set(["workspace/c1:ws1"]),
    };
    expect(plan([declare(service())], around).plan.steps).toMatchObject([{ action: "create" }]);
  });

  test("do not block what is in order already", () => {
    const around = { live: { "workspace/c1:ws1": absent, "service/c1:ws1/api": present(service()) } };
    expect(plan([declare(service())], around).plan.steps).toMatchObject([{ action: "keep" }]);
  });

  test("do not block on kinds that nobody manages, nor on what cannot be read", () => {
    const bound = { ...workspace, collaborators: [{ subject: "team:x", role_id: "workspace-viewer" }] };
    const step = against(bound, absent, { live: { "cluster/c1": present(cluster), "team/x": unread } });
    expect(step.action).toBe("create");
  });

  test("hold through several steps, and every blocked step is told about at its cause", () => {
    const { plan: made } = plan([declare(cluster), ...both], {
      live: {
        "cluster/c1": { state: "unknown", reason: "unreadable" },
        "workspace/c1:ws1": absent,
        "service/c1:ws1/api": absent,
      },
    });
    expect(made.steps.map(({ reason, wave }) => [reason, wave])).toEqual([
      ["unreadable", 0],
      ["dependency", 1],
      ["dependency", 2],
    ]);
    const others = ["ws1.yaml", "api.yaml"].map((file) => ({ file, line: 1, column: 1 }));
    expect(made.diagnostics).toMatchObject([
      { severity: "warning", code: "unreadable", file: "c1.yaml", line: 1, column: 1, related: others },
    ]);
  });

  test("that is missing is one diagnostic with its places, whatever waits for it", () => {
    const services = ["a", "b", "c"].map((name) => declare(service({ name, workspace_fqn: "c9:ws9" })));
    const liveAs = (state: Live) =>
      Object.fromEntries(["workspace/c9:ws9", ...services.map(({ identity }) => identity)].map((one) => [one, state]));
    const { plan: made } = plan(services, { live: liveAs(absent) });
    expect(made.summary.block).toBe(3);
    const hidden = plan(services, { live: liveAs({ state: "unknown", reason: "not-visible" }) }).plan;
    expect(hidden.diagnostics).toMatchObject([{ code: "not-visible" }, { code: "forbidden", related: [{}, {}] }]);
    expect(made.diagnostics).toMatchObject([
      {
        code: "reference-absent",
        detail: "workspace/c9:ws9",
        file: "a.yaml",
        related: [{ file: "b.yaml" }, { file: "c.yaml" }],
      },
    ]);
  });

  test("to the same missing secret are one diagnostic, and other refusals stay apart", () => {
    const env = { DB: "secret://t:db:password" };
    const services = ["a", "b", "c"].map((name) => declare(service({ name, ...(name === "c" ? {} : { env }) })));
    const refused = (pointer: string) => ({ state: "refused", message: "there is no such secret", pointer }) as const;
    const dryRuns = new Map(
      services.map(({ identity }, at) => [identity, refused(at < 2 ? "/env/DB" : "/image/image_uri")]),
    );
    const live = Object.fromEntries(services.map(({ identity }) => [identity, absent]));
    const { plan: made } = plan(services, { live, dryRuns });
    expect(made.diagnostics.map(({ file, related = [] }) => [file, related.map((other) => other.file)])).toEqual([
      ["a.yaml", ["b.yaml"]],
      ["c.yaml", []],
    ]);
  });
});

describe("versions", () => {
  const second = prompt({ version: 2 });

  test("never change their content", () => {
    const step = against(
      second,
      present(prompt({ version: 2, messages: [{ role: "system", content: "Be rude." }] }), { version: 2 }),
    );
    expect(step).toMatchObject({ action: "block", reason: "immutable", changes: [{ path: "/messages/0/content" }] });
  });

  test("take a new description, metadata and alias in place", () => {
    const desired = { ...second, description: "new", version_alias: "v2", metadata: { a: 1 } };
    expect(against(desired, present(second, { version: 2 }))).toMatchObject({ action: "update" });
  });

  test("are no difference for the number that replies carry", () => {
    expect(against(prompt(), present(prompt({ version: 7 }), { version: 7 }))).toMatchObject({ action: "keep" });
  });

  test("make the next one where no number is named", () => {
    const step = against(
      prompt({ messages: [{ role: "user", content: "x" }] }),
      present(prompt({ version: 7 }), { version: 7 }),
    );
    expect(step.action).toBe("update");
  });

  test.each([
    ["the first of a new name", 1, undefined, "create", null],
    ["a second of a new name", 2, undefined, "block", "version-gap"],
    ["the next one", 4, 3, "create", null],
    ["one further ahead", 5, 3, "block", "version-gap"],
  ] as const)("allow %s or say so", (_, version, newest, action, reason) => {
    const live: Live = newest === undefined ? absent : { state: "absent", newest };
    const around = { live: { "ml-repo/r": present(repo) } };
    expect(against(prompt({ version }), live, around)).toMatchObject({ action, reason });
  });

  test("follow each other where the one before is declared too", () => {
    const before = { identity: "chat_prompt/r/greeter@1", pointer: "/version" };
    const manifests = [declare(prompt({ version: 1 })), declare(second, { references: [before] })];
    const live = { "ml-repo/r": present(repo), "chat_prompt/r/greeter@1": absent, "chat_prompt/r/greeter@2": absent };
    expect(plan(manifests, { live }).plan.steps.map(({ action }) => action)).toEqual(["create", "create"]);
  });
});

describe("postModelVersion", () => {
  const facts = without("putModelVersion");
  const around = { live: { "ml-repo/r": present(repo) } };

  test("is used where no version of the name exists", () => {
    expect(against(model, absent, { ...around, capabilities: facts })).toMatchObject({ action: "create" });
  });

  test("is not used where a version exists that it could delete", () => {
    const blocked = { action: "block", reason: "model-version-write" };
    expect(
      against({ ...model, version: 2 }, { state: "absent", newest: 1 }, { ...around, capabilities: facts }),
    ).toMatchObject(blocked);
    expect(
      against({ ...model, step: 3 }, present({ ...model, version: 1 }), { ...around, capabilities: facts }),
    ).toMatchObject(blocked);
  });

  test("is used for everything where the server is known to register", () => {
    const registers = { ...facts, registers: true };
    expect(
      against({ ...model, version: 2 }, { state: "absent", newest: 1 }, { ...around, capabilities: registers }),
    ).toMatchObject({ action: "create" });
    expect(
      against({ ...model, step: 3 }, present({ ...model, version: 1 }), { ...around, capabilities: registers }),
    ).toMatchObject({ action: "update" });
  });

  test("is not needed where PUT exists", () => {
    expect(against({ ...model, step: 3 }, present({ ...model, version: 1 }), around)).toMatchObject({
      action: "update",
    });
  });

  test("is blocked as read-only where neither exists", () => {
    const none = without("putModelVersion", "postModelVersion");
    expect(against(model, absent, { ...around, capabilities: none })).toMatchObject({ reason: "read-only" });
  });
});

describe("one-time tokens", () => {
  test("block a creation that nobody could keep the token of", () => {
    expect(against(account, absent, { hasSink: false })).toMatchObject({ action: "block", reason: "token-sink" });
    expect(against(account, unread, { hasSink: false })).toMatchObject({ action: "block", reason: "token-sink" });
  });

  test("block nothing where the server stores the token itself, or none is made", () => {
    const stored = { ...account, secret_store_config: { integration_fqn: "builtin", secret_path: "g/k" } };
    expect(against(stored, absent, { hasSink: false }).action).toBe("create");
    expect(against({ ...account, expiration_date: "2027-01-01" }, present(account), { hasSink: false }).action).toBe(
      "update",
    );
  });
});

describe("ignore rules", () => {
  const desired = service({ replicas: 2, labels: { a: "1" } });
  const live = present(service({ replicas: 9, labels: { a: "1" } }));
  const rule = { path: "/replicas", reason: "an autoscaler keeps it" };

  test("suppress a difference, which is counted and not acted on", () => {
    const step = against(desired, live, { ignore: [rule] });
    expect(step).toMatchObject({
      action: "keep",
      changes: [],
      patch: [],
      decision: { ignored: [["replicas"]], drifted: false },
    });
  });

  test("hold to the end of their last day and no longer", () => {
    const until = (expires: string) => against(desired, live, { ignore: [{ ...rule, expires }] }).action;
    expect([until("2026-11-21"), until("2026-11-20")]).toEqual(["keep", "update"]);
  });

  test("hold only for what they match", () => {
    const on = (match: string) => against(desired, live, { ignore: [{ ...rule, match }] }).action;
    expect([on("service/c1:*/*"), on("service/c2:*/*"), on("**")]).toEqual(["keep", "update", "keep"]);
  });
});

describe("orphans", () => {
  const gone = recorded(service({ name: "gone" }));

  test("are what is recorded and no longer declared", () => {
    const { plan: made } = plan([], {
      recorded: [gone],
      live: { [gone.identity]: present(service({ name: "gone" })) },
    });
    expect(made.steps).toEqual([
      {
        action: "orphan",
        kind: "service",
        identity: gone.identity,
        file: null,
        line: null,
        wave: 0,
        changes: [],
        patch: [],
        reason: null,
        risks: [],
        causedBy: "change",
        orphan: { recorded: true, isLive: true },
      },
    ]);
    expect(made.summary.orphan).toBe(1);
  });

  test("are, without a record, what the history declared, with the commit that removed it, and what this change removes", () => {
    const removedBy = { commit: "c0ffee", author: "Ada <ada@example.com>", at: "2026-11-20T10:00:00Z" };
    const removed = new Map([[gone.identity, removedBy]]);
    const live = { [gone.identity]: present(gone.written) };
    const orphan = { recorded: false, isLive: true };
    expect(plan([], { removed, live }).plan.steps).toMatchObject([
      { action: "orphan", causedBy: null, orphan: { ...orphan, removedBy } },
    ]);
    const base = new Map([[gone.identity, gone.written]]);
    expect(plan([], { base, live }).plan.steps).toMatchObject([
      { causedBy: "change", orphan: { ...orphan, removedBy: { commit: null, author: null, at: null } } },
    ]);
    expect(
      plan([], { removed, live: { [gone.identity]: { state: "unknown", reason: "no-read" } } }).plan.steps,
    ).toMatchObject([{ orphan: { isLive: false } }]);
    expect(
      plan([], { removed, live: { [gone.identity]: { state: "unknown", reason: "not-visible" } } }).plan.steps,
    ).toMatchObject([{ orphan: { isLive: false, notVisible: true } }]);
    expect(plan([], { removed, live, elsewhere: new Set([gone.identity]) }).plan.steps).toEqual([]);
    expect(plan([], { removed, live: { [gone.identity]: absent } }).plan.summary.orphan).toBe(0);
  });

  test("are not what a manifest may declare that cannot be read, or does not say what it declares", () => {
    const live = { [gone.identity]: present(gone.written) };
    const broken = { identity: "", file: "gone.yaml", line: 2, code: "required", message: "`name` is missing" };
    for (const kind of ["service", ""]) {
      const { plan: made } = plan([], { recorded: [gone], live, nameless: [{ ...broken, kind }] });
      expect([made.steps, made.summary.orphan]).toEqual([[], 0]);
      expect(made.diagnostics).toMatchObject([
        {
          severity: "warning",
          code: "may-be-declared",
          file: "gone.yaml",
          summary: expect.stringContaining(gone.identity),
        },
      ]);
    }
    const { plan: made } = plan([], { recorded: [gone], live, nameless: [{ ...broken, kind: "team" }] });
    expect([made.summary.orphan, made.diagnostics]).toEqual([1, []]);
  });

  test("name three of those that a broken manifest may declare, and count the others", () => {
    const all = ["a", "b", "c", "d"].map((name) => recorded(service({ name })));
    const live = Object.fromEntries(all.map(({ identity, written }) => [identity, present(written)]));
    const broken = { identity: "", kind: "service", code: "required", message: "`name` is missing" };
    const warningOf = (count: number, place: { readonly file: string; readonly line: number | null }) =>
      plan([], { recorded: all.slice(0, count), live, nameless: [{ ...broken, ...place } as never] }).plan.diagnostics;
    const warning = {
      ...{ severity: "warning", code: "may-be-declared" },
      detail: "These do not count as orphans until every manifest says what it declares.",
    };
    const named = "service/c1:ws1/a, service/c1:ws1/b, service/c1:ws1/c";
    expect(warningOf(3, { file: "gone.yaml", line: 2 })).toEqual([
      {
        ...warning,
        summary: `the manifest of ${named} may be one that cannot be read`,
        file: "gone.yaml",
        line: 2,
        column: 1,
      },
    ]);
    expect(warningOf(4, { file: "gone.yaml", line: null })).toEqual([
      {
        ...{ ...warning, summary: `the manifest of ${named}, and 1 more may be one that cannot be read` },
        ...{ file: "gone.yaml", line: null, column: null },
      },
    ]);
  });

  test("beside a base are what it declared, what was applied and what is recorded, by their causes", () => {
    const [ofBase, ofApplied, ofRecord] = ["base", "applied", "recorded"].map((name) => service({ name }));
    const values = [ofBase, ofApplied, ofRecord].map((value) => value ?? {});
    const live = Object.fromEntries(values.map((value) => [`service/c1:ws1/${value.name}`, present(value)]));
    const around = {
      live,
      base: new Map([["service/c1:ws1/base", values[0] ?? {}]]),
      applied: new Map([["service/c1:ws1/applied", values[1] ?? {}]]),
      recorded: [recorded(values[2] ?? {})],
    };
    const causesOf = (more: Around) =>
      plan([], { ...around, ...more }).plan.steps.map(({ identity, causedBy }) => [identity, causedBy]);
    expect(causesOf({})).toEqual([
      ["service/c1:ws1/applied", "pending"],
      ["service/c1:ws1/base", "change"],
      ["service/c1:ws1/recorded", "pending"],
    ]);
    expect(causesOf({ applied: null })).toEqual([
      ["service/c1:ws1/base", "change"],
      ["service/c1:ws1/recorded", "pending"],
    ]);
    const removed = new Map([["service/c1:ws1/applied", { commit: "c0ffee", author: null, at: null }]]);
    expect(causesOf({ applied: null, recorded: [], removed })).toEqual([
      ["service/c1:ws1/applied", null],
      ["service/c1:ws1/base", "change"],
    ]);
    // Without a base, what was applied stands for no record.
    expect(causesOf({ base: null })).toEqual([["service/c1:ws1/recorded", "change"]]);
  });

  test("may be live where a read says only that they exist", () => {
    const isLive = (state: Live) =>
      plan([], { recorded: [gone], live: { [gone.identity]: state } }).plan.steps[0]?.orphan?.isLive;
    const exists = { state: "unknown", reason: "no-read", exists: true } as const;
    expect([isLive(exists), isLive(unread)]).toEqual([true, false]);
  });

  test("are not what is gone from live too, nor what another part of the source declares", () => {
    expect(plan([], { recorded: [gone], live: { [gone.identity]: absent } }).plan.steps).toEqual([]);
    expect(plan([], { recorded: [gone], declared: [gone.identity] }).plan.steps).toEqual([]);
  });

  test("are counted and not listed where only a part was selected", () => {
    const live = { [gone.identity]: present(gone.written) };
    const { plan: made } = plan([], { recorded: [gone], live, orphans: "counted" });
    expect([made.steps, made.summary.orphan]).toEqual([[], 1]);
    expect(plan([], { recorded: [gone], live, orphans: "none" }).plan.summary.orphan).toBe(0);
  });
});

describe("a plan", () => {
  const manifests = [declare(service({ replicas: 2 })), declare(workspace), declare(cluster)];
  const around = {
    live: {
      "cluster/c1": present(cluster),
      "workspace/c1:ws1": present(workspace),
      "service/c1:ws1/api": present(service({ replicas: 5 })),
    },
    recorded: [recorded(service({ replicas: 2 }))],
  };

  test("lists its steps in dependency order with their waves, and counts them", () => {
    const { plan: made } = plan(manifests, around);
    expect(made.steps.map(({ identity, wave }) => [identity, wave])).toEqual([
      ["cluster/c1", 0],
      ["workspace/c1:ws1", 1],
      ["service/c1:ws1/api", 2],
    ]);
    expect(made.summary).toEqual({
      create: 0,
      update: 1,
      keep: 2,
      ensure: 0,
      block: 0,
      orphan: 0,
      drift: 1,
      unrecorded: 0,
      invalid: 0,
      refused: 0,
    });
  });

  test("has exactly the fields that the contract names", () => {
    const { plan: made } = plan(manifests, around);
    expect(Object.keys(made)).toEqual([
      "format_version",
      "revision",
      "server",
      "complete",
      "summary",
      "steps",
      "diagnostics",
      "checksum",
    ]);
    expect(Object.keys(made.steps[0] ?? {})).toEqual([
      "action",
      "kind",
      "identity",
      "file",
      "line",
      "wave",
      "changes",
      "patch",
      "reason",
      "risks",
      "causedBy",
    ]);
    expect(Object.keys(made.steps[2]?.changes[0] ?? {})).toEqual(["path", "label", "before", "after", "cause", "diff"]);
  });

  test("is the same bytes for the same input, whatever the order of manifests and keys", () => {
    expect(JSON.stringify(plan(manifests.toReversed(), around))).toBe(JSON.stringify(plan(manifests, around)));
  });

  test("names who wrote live beside what live changed, or may have changed, and beside nothing else", () => {
    const by = { createdBy: "id-7", author: "virtualaccount:nightly", createdAt: "2026-11-25T10:00:00.000Z" };
    const live = { "service/c1:ws1/api": present(service({ replicas: 5 }), { ...by, version: 2 }) };
    const wanted = [declare(service({ replicas: 2 }))];
    const changedBy = { subject: by.author, subjectId: by.createdBy, at: by.createdAt };
    const writers = (around: Around) => plan(wanted, { live, ...around }).plan.steps.map((step) => step.changedBy);
    expect(writers({})).toEqual([changedBy]);
    expect(writers({ recorded: [recorded(service({ replicas: 2 }))] })).toEqual([changedBy]);
    expect(writers({ recorded: [recorded(service({ replicas: 5 }))] })).toEqual([undefined]);
    // Without versions only the creator is shown, and somebody else may have changed it since.
    const team = declare({ type: "team", name: "ml", members: ["a@x.io"] });
    const writersOf = (stamp: string) => {
      const found = present({ type: "team", name: "ml", members: ["b@x.io"] }, { ...by, stamp });
      return plan([team], { live: { "team/ml": found } }).plan.steps.map((step) => step.changedBy);
    };
    expect(writersOf(by.createdAt)).toEqual([changedBy]);
    const later = "2026-11-25T11:00:00.000Z";
    expect(writersOf(later)).toEqual([{ subject: null, subjectId: null, at: later }]);
  });

  test("shows what only the server adds on request, beside the rest and with the same checksum", () => {
    const live = { "service/c1:ws1/api": present(service({ allow_interception: false })) };
    const input = planInput([declare(service({ env: { A: "1" } }))], { live });
    const planned = makePlan(input);
    const { plan: made } = planned;
    const shown = withServerSide(planned, input);
    expect(made.steps.map(causes)).toEqual([{ "/env/A": "unrecorded" }]);
    expect(shown.steps.map(causes)).toEqual([{ "/env/A": "unrecorded", "/allow_interception": "default" }]);
    expect(shown.checksum).toBe(made.checksum);
  });
});

describe("what is added to a plan", () => {
  const identity = "service/c1:ws1/api";
  const manifests = [declare(service({ replicas: 2 })), declare(team)];
  const live = { [identity]: present(service({ replicas: 5 })), "team/ml": present({ ...team, members: ["b@x.io"] }) };
  const made = plan(manifests, { live });
  const { steps, checksum, ...rest } = made.plan;
  const [api, ml] = ["service", "team"].map((kind) => steps.findIndex((step) => step.kind === kind));
  const withStep = (fields: object) =>
    steps.map((step) => (step.identity === identity ? { ...step, ...fields } : step));
  const gates = [{ name: "review", gate: "g", place: null, verdict: "pass", score: null, summary: "good" }] as const;
  const findings = [{ name: "p", severity: "warn", message: "m", file: "p.yaml", line: 1, column: 1 }] as const;
  const guard = { flags: ["--allow-adopt"], dangers: [] };
  const notChecked = { reason: "skipped" } as const;
  const place = { file: null, line: null, column: null };
  const warning: Diagnostic = { severity: "warning", code: "note", summary: "n", detail: null, ...place };
  const change = steps[api ?? 0]?.changes[0];
  if (change === undefined) throw new TypeError("no change");
  const withPlaces = withChangePlaces(made.plan, new Map([[change, { file: "a.yaml", line: 7 }]]));

  test.each([
    ["answers of gates", withGateAnswers(made, new Map([[identity, gates]])).plan, { steps: withStep({ gates }) }],
    [
      "findings in a step",
      withPolicyFindings(made, { steps: new Map([[identity, findings]]), plan: [] }).plan,
      { steps: withStep({ policies: findings }) },
    ],
    [
      "findings in the plan",
      withPolicyFindings(made, { steps: new Map(), plan: findings }).plan,
      { policies: findings },
    ],
    [
      "findings, kept by what is added after them",
      withRunWarnings(withPolicyFindings(made, { steps: new Map(), plan: findings }).plan, [warning]),
      { policies: findings, diagnostics: [warning] },
    ],
    [
      "guards",
      withGuards(made.plan, new Map([[identity, guard]]), 1),
      { steps: withStep({ guard }), summary: { ...rest.summary, refused: 1 } },
    ],
    [
      "what was not checked",
      withNotChecked(made, new Map([[identity, notChecked]])).plan,
      { steps: withStep({ notChecked }), summary: { ...rest.summary, notChecked: 1 } },
    ],
    ["warnings about its run", withRunWarnings(made.plan, [warning]), { diagnostics: [warning] }],
    ["places of changes", withPlaces, { steps: withStep({ changes: [{ ...change, file: "a.yaml", line: 7 }] }) }],
    [
      "what is invalid",
      incompleteIfInvalid({ ...made.plan, summary: { ...rest.summary, invalid: 1 } }),
      { complete: false, summary: { ...rest.summary, invalid: 1 } },
    ],
  ])("changes nothing else, nor the checksum: %s", (_, after, added) => {
    expect({ ...after }).toEqual({ ...rest, steps, checksum, ...added });
  });

  test("leaves the plan as it is where there is nothing", () => {
    const none = new Map();
    const guards = new Map([[identity, guard]]);
    for (const same of [
      withGateAnswers(made, none).plan,
      withPolicyFindings(made, { steps: none, plan: [] }).plan,
      withGuards(made.plan, guards, 0),
      withNotChecked(made, none).plan,
      withRunWarnings(made.plan, []),
      withChangePlaces(made.plan, none),
      incompleteIfInvalid(made.plan),
      withBlockDiagnostics(made, []).plan,
    ])
      expect(same).toBe(made.plan);
    expect(withPlaces.steps[ml ?? 0]).toBe(steps[ml ?? 0]);
    const kept = plan([declare(team)], { live: { "team/ml": present(team) } });
    expect(withNotChecked(kept, new Map([["team/ml", notChecked]])).plan).toBe(kept.plan);
  });
});

describe("the checksum", () => {
  const identity = "service/c1:ws1/api";
  const sum = (desired: JsonObject, live: Live, more: object = {}) =>
    plan([declare(desired)], { live: { [identity]: live }, ...more }).plan.checksum;
  const live = present(service({ replicas: 5 }));
  const desired = service({ replicas: 2 });

  test("stays while nothing moves, wherever the file lies and whatever stays unchanged", () => {
    const moved = plan([declare(desired, { file: "elsewhere.yaml", line: 9 })], { live: { [identity]: live } });
    expect(moved.plan.checksum).toBe(sum(desired, live));
    const more = plan([declare(desired), declare(cluster)], {
      live: { [identity]: live, "cluster/c1": present(cluster) },
    });
    expect(more.plan.checksum).toBe(sum(desired, live));
    expect(sum(desired, live)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test.each<[string, string]>([
    ["live moves under an update", sum(desired, present(service({ replicas: 5 }), { stamp: "stamp-2" }))],
    ["live shows another value", sum(desired, present(service({ replicas: 6 })))],
    ["the resource is gone", sum(desired, absent)],
    ["the manifest moves", sum(service({ replicas: 3 }), live)],
    ["the commit is another", sum(desired, live, { revision: "abc" })],
    ["the server is another", sum(desired, live, { server: "http://other" })],
  ])("moves when %s", (_, other) => {
    expect(other).not.toBe(sum(desired, live));
  });

  test("stays whatever base the causes were told by", () => {
    const base = new Map([[identity, desired]]);
    const around = { recorded: [recorded(service({ replicas: 5 }))] };
    expect(sum(desired, live, { ...around, base })).toBe(sum(desired, live, around));
  });

  test("moves with the manifest of what is to be created", () => {
    expect(sum(service({ replicas: 2 }), absent)).not.toBe(sum(service({ replicas: 3 }), absent));
  });

  test("S13: gives no secret away to guessing", () => {
    const secret = (value: string) => sum(service({ env: { DB_PASSWORD: value } }), absent);
    expect(secret("1234")).toBe(secret("5678"));
    const shown = (before: string, after: string) => {
      const [mine, theirs] = [before, after].map((value) => service({ env: { DB_PASSWORD: value } }));
      return JSON.stringify(plan([declare(theirs ?? {})], { live: { [identity]: present(mine ?? {}) } }).plan);
    };
    expect(shown("1234", "a much longer one")).toBe(shown("y", "n"));
  });
});

describe("ten thousand unchanged services", () => {
  test("are planned in far less than the time it takes to list them", () => {
    const services = Array.from({ length: 10_000 }, (_, index) =>
      service({
        name: `s${index}`,
        env: { A: index, B: "x" },
        ports: [{ port: 80 }],
        labels: { app: `s${index}`, tier: "x" },
      }),
    );
    const manifests = services.map((value) => declare(value));
    const returned = (value: JsonObject) => ({
      ...value,
      env: { A: `${(value.env as JsonObject).A}`, B: "x" },
      replicas: 1,
      ports: [{ port: 80, protocol: "TCP" }],
    });
    const input = planInput(manifests, {
      live: Object.fromEntries(manifests.map(({ identity, value }) => [identity, present(returned(value))])),
      recorded: services.map((value) => recorded(value, { returned: returned(value) })),
    });
    const started = processorMs();
    const { plan: made } = makePlan(input);
    const took = processorMs() - started;
    expect(made.summary).toMatchObject({ keep: 10_000, update: 0 });
    // Some 0.2 s on an idle machine: ten times that is a regression, not a busy neighbour.
    expect(took).toBeLessThan(2_500);
  });

  test("need one step for one change", () => {
    expect(
      only(plan([declare(service({ replicas: 2 }))], { live: { "service/c1:ws1/api": present(service()) } })).action,
    ).toBe("update");
  });
});
