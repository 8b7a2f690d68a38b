import { describe, expect, test } from "vitest";
import type { Decision } from "../../../../src/core/decide/decision.ts";
import { guardedSteps, guardMessages } from "../../../../src/core/guards/guarded-steps.ts";
import {
  firstWriteGuard,
  guardDetail,
  isLooserGuard,
  MAY_EXIST,
  refusedRisks,
  UNREAD,
} from "../../../../src/core/guards/step-guards.ts";
import type { Live } from "../../../../src/core/live.ts";
import type { Risk } from "../../../../src/core/plan/plan.ts";
import type { PlanInput, PlanWithDecisions } from "../../../../src/core/plan/plan-input.ts";
import { declare, plan, present, recorded, service } from "../given.ts";

const refused: ReadonlySet<Risk> = new Set(["adopts"]);
const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1" };
const others: Live = present({ ...workspace, labels: { team: "other" } }, { createdBy: "other" });

describe("the guards of a daemon", () => {
  test("hold back a step and what refers to it, though that is there, and nothing else", () => {
    const manifests = [workspace, service(), { type: "team", name: "ml", members: ["a@x.io"] }].map((one) =>
      declare(one),
    );
    const { plan: made } = plan(manifests, {
      live: { "workspace/c1:ws1": others, "service/c1:ws1/api": { state: "absent" }, "team/ml": { state: "absent" } },
      writers: new Set(["me"]),
      guards: { refused },
    });
    expect(made.steps.map(({ identity, action, reason, risks }) => [identity, action, reason, risks])).toEqual([
      ["team/ml", "create", null, ["privilege-growth"]],
      ["workspace/c1:ws1", "block", "guard", ["adopts"]],
      ["service/c1:ws1/api", "block", "dependency", []],
    ]);
    expect(made.summary).toMatchObject({ create: 1, block: 2 });
    expect(made.diagnostics[0]?.detail).toContain("(labels.team)");
  });

  test("name each danger of a step, and what allows it once", () => {
    const { plan: made } = plan(
      [declare(service({ replicas: 0, ports: [{ port: 80, expose: true, host: "a.b.io" }] }))],
      {
        live: { "service/c1:ws1/api": present(service({ replicas: 2 }), { createdBy: "me" }) },
        writers: new Set(["me"]),
        guards: { refused: new Set<Risk>(["scale-to-zero", "exposure", "secret-removed"]) },
      },
    );
    expect(made.steps).toMatchObject([{ action: "block", reason: "guard", risks: ["scale-to-zero", "exposure"] }]);
    expect(made.diagnostics[0]?.detail).toBe(
      "may leave no replica running (2 → 0), would change what the network can reach (port 80/TCP at a.b.io); confirm it at a terminal, or change guards in the configuration",
    );
  });

  test.each([
    [13, 3, false],
    [13, 4, true],
    [9, 9, false],
    [10, 3, false],
  ])("of %i resources hold back %i updates: %s", (count, changed, holds) => {
    const names = Array.from({ length: count }, (_, index) => `s${index}`);
    const manifests = names.map((name, index) => declare(service({ name, replicas: index < changed ? 3 : 1 })));
    const live = Object.fromEntries(
      names.map((name) => [`service/c1:ws1/${name}`, present(service({ name, replicas: 1 }))]),
    );
    const receipts = names.map((name) => recorded(service({ name, replicas: 1 })));
    const created = { "service/c1:ws1/new": { state: "absent" } } as const;
    const { summary } = plan([...manifests, declare(service({ name: "new" }))], {
      live: { ...live, ...created },
      ...{ recorded: receipts, guards: { refused } },
    }).plan;
    expect(summary).toMatchObject({
      create: 1,
      ...(holds ? { update: 0, block: changed } : { update: changed, block: 0 }),
    });
  });
});

describe("a step that is held back", () => {
  const found = (live: Live, guards: Partial<NonNullable<PlanInput["guards"]>>, around = {}) =>
    plan([declare(service({ replicas: 1 }))], {
      live: { "service/c1:ws1/api": live },
      writers: new Set(["me"]),
      guards: { refused, ...guards },
      ...around,
    }).plan;
  const ours = present(service({ replicas: 2 }), { createdBy: "me" });
  const reason = new Map([["service/c1:ws1/api", "policy tags denies it"]]);

  test("by a policy is told with what that says", () => {
    const made = found(ours, { policies: reason });
    expect(made.steps).toMatchObject([{ action: "block", reason: "policy" }]);
    expect(made.diagnostics[0]?.detail).toBe("policy tags denies it");
  });

  test("by a guard is told with the guard, whatever policies say", () => {
    const foreign = present(service({ replicas: 2 }), { createdBy: "other" });
    expect(found(foreign, { policies: reason }).steps).toMatchObject([{ action: "block", reason: "guard" }]);
  });

  test("is not one that writes nothing", () => {
    const equal = present(service({ replicas: 1 }), { createdBy: "me" });
    const held = new Map([["service/c1:ws1/api", "incident"]]);
    expect(found(equal, { policies: reason, held }).summary).toMatchObject({ keep: 1, block: 0 });
  });

  test("is told why, where all wait for the first one", () => {
    const made = (...names: readonly string[]) =>
      plan([...names.map((name) => declare(service({ name }))), declare(service({ name: "new" }))], {
        live: {
          ...Object.fromEntries(names.map((name) => [`service/c1:ws1/${name}`, others])),
          "service/c1:ws1/new": { state: "absent" },
        },
        writers: new Set(["me"]),
        guards: { refused, isFirst: true },
      }).plan.diagnostics.map(({ detail }) => detail?.replace(/^.*(?=held back)/, ""));
    expect(made("a")).toContain(
      "held back before the target's first write: a resource that is somebody else's must be adopted or allowed first",
    );
    expect(made("a", "b")).toContain(
      "held back before the target's first write: 2 resources that are somebody else's must be adopted or allowed first",
    );
  });
});

test.each<[string, string, readonly (readonly [Risk, string])[], boolean]>([
  ["somebody else's", "block", [["adopts", "labels"]], true],
  [
    "somebody else's, beside another danger",
    "block",
    [
      ["exposure", "port 80"],
      ["adopts", "labels"],
    ],
    true,
  ],
  ["somebody else's that cannot be read", "block", [["adopts", UNREAD]], true],
  ["what only may exist", "block", [["adopts", `${MAY_EXIST}, since no operation reads it`]], false],
  ["another danger", "block", [["exposure", "port 80"]], false],
  ["nothing", "block", [], false],
  ["what is allowed", "update", [["adopts", "labels"]], false],
])("the first write waits for %s, or not", (_, action, given, waits) => {
  const dangers = given.map(([risk, text]) => ({ risk, path: null, text }));
  const decision = { action, dangers } as unknown as Decision;
  expect(firstWriteGuard([decision], { refused, isFirst: true }) !== null).toBe(waits);
  expect(firstWriteGuard([decision], { refused })).toBeNull();
});

describe("the dangers of a step in words", () => {
  const danger = (risk: Risk, text: string) => ({ risk, path: null, text });
  const fields = (count: number) => Array.from({ length: count }, (_, nth) => danger("reverts", `f${nth}`));

  test.each<[string, readonly ReturnType<typeof danger>[], string]>([
    [
      "each with what allows it",
      [danger("adopts", "labels"), danger("privilege-growth", "ada@x.io becomes a member")],
      "would overwrite what somebody else manages (labels), would give somebody more rights (ada@x.io becomes a member); holdfast import --update takes what is live into git, holdfast adopt lets git overwrite it, --allow-adopt overwrites it at once; --allow-privilege allows it",
    ],
    [
      "without a text",
      [danger("version-immutable", "")],
      "would change the content of a version that exists; confirm it at a terminal, or change guards in the configuration",
    ],
    [
      "of live that cannot be read",
      [danger("adopts", `${UNREAD}, since no operation reads it`)],
      "would overwrite what somebody else manages (live cannot be read, since no operation reads it); --allow-adopt writes it all the same",
    ],
    [
      "of what may exist, and something else",
      [danger("adopts", MAY_EXIST), danger("adopts", "labels")],
      "would overwrite what somebody else manages (may exist already and be somebody else's: live cannot be read, labels); holdfast import --update takes what is live into git, holdfast adopt lets git overwrite it, --allow-adopt overwrites it at once",
    ],
    [
      "ten of them",
      fields(10),
      "would undo a change that was made in live (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9); confirm it at a terminal, or change guards in the configuration",
    ],
    [
      "more than ten of them",
      fields(12),
      "would undo a change that was made in live (f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, and 2 more); confirm it at a terminal, or change guards in the configuration",
    ],
  ])("%s", (_, dangers, text) => {
    expect(guardDetail(dangers)).toBe(text);
  });
});

describe("where drift is proposed for git", () => {
  const space = { ...workspace, labels: { team: "ml" } };
  const given = {
    live: {
      "workspace/c1:ws1": present({ ...workspace, labels: { team: "web" } }),
      "service/c1:ws1/api": present(service({ replicas: 5 })),
      "service/c1:ws1/web": present(service({ name: "web", replicas: 5 })),
      "service/c1:ws1/new": { state: "absent" },
    } as const,
    recorded: [recorded(space), recorded(service({ replicas: 1 })), recorded(service({ name: "web", replicas: 1 }))],
  };
  const manifests = [
    declare(space),
    declare(service({ replicas: 1 })),
    declare(service({ name: "web", replicas: 2 })),
    declare(service({ name: "new" })),
  ];
  const actions = (guards: PlanInput["guards"]) =>
    plan(manifests, { ...given, guards }).plan.steps.map(({ identity, action, reason }) => [identity, action, reason]);

  test("what live alone has changed is not written back, and nothing else waits for it", () => {
    expect(actions({ refused: new Set(), writtenBack: new Set() })).toEqual([
      ["workspace/c1:ws1", "block", "held"],
      ["service/c1:ws1/api", "block", "held"],
      ["service/c1:ws1/new", "create", null],
      ["service/c1:ws1/web", "update", null],
    ]);
  });

  test("unless git has won, or a person has put it on hold", () => {
    const held = new Map([["service/c1:ws1/api", "incident 12"]]);
    const guards = { refused: new Set<Risk>(), held, writtenBack: new Set(["workspace/c1:ws1", "service/c1:ws1/api"]) };
    expect(actions(guards).slice(0, 2)).toEqual([
      ["workspace/c1:ws1", "update", null],
      ["service/c1:ws1/api", "block", "held"],
    ]);
  });
});

describe("a guard of the configuration", () => {
  test("refuses what the default one does, and what else it is told to", () => {
    expect([...refusedRisks({})]).toEqual(["adopts", "privilege-growth"]);
    expect([...refusedRisks({ adopts: "mark", exposure: "refuse", reverts: null })]).toEqual([
      "privilege-growth",
      "exposure",
    ]);
  });

  test("is looser than the default one where it only marks what that refuses", () => {
    expect(isLooserGuard({ exposure: "mark", "scale-to-zero": "refuse", adopts: "refuse" })).toBe(false);
    expect(isLooserGuard({ adopts: "mark" })).toBe(true);
    expect(isLooserGuard({ "privilege-growth": "mark" })).toBe(true);
  });
});

describe("a plan that nobody has confirmed is refused", () => {
  const allRisks: ReadonlySet<Risk> = new Set([
    "adopts",
    "privilege-growth",
    "scale-to-zero",
    "exposure",
    "secret-removed",
    "reverts",
  ]);
  const messagesOf = (planned: PlanWithDecisions, risks = allRisks) =>
    guardedSteps(planned, { risks, isAllowed: () => false })
      .flatMap(guardMessages)
      .map(({ pointer, diagnostic: { code, summary } }) => [code, pointer, summary.replace(/;.*/, "")]);

  test("for every step that a guard refuses, and no other", () => {
    const planned = plan([declare(workspace)], { live: { "workspace/c1:ws1": others }, writers: new Set(["me"]) });
    expect(messagesOf(planned, new Set(["exposure"]))).toEqual([]);
    expect(messagesOf(planned)).toEqual([
      ["adopts", "/labels/team", "workspace/c1:ws1 would overwrite what somebody else manages (labels.team)"],
    ]);
    expect(guardedSteps(planned, { risks: allRisks, isAllowed: () => false })).toMatchObject([
      { guard: { flags: ["--allow-adopt"] } },
    ]);
  });

  test("for a write where live cannot be read, with what alone allows it", () => {
    const planned = plan([declare({ type: "team", name: "ml", members: ["ada@x.io"] })], {
      live: { "team/ml": { state: "unknown", reason: "no-read" } },
    });
    const [first] = guardedSteps(planned, { risks: new Set<Risk>(["adopts"]), isAllowed: () => false }).flatMap(
      guardMessages,
    );
    expect(first?.diagnostic.summary).toBe(
      "team/ml may exist already and be somebody else's: live cannot be read, since no documented operation reads teams; --allow-adopt writes it all the same",
    );
  });

  test("with who gets which role, each at the field that gives it", () => {
    const members = { type: "team", name: "ml", members: ["zoe@x.io", "ada@x.io"], managers: ["bob@x.io"] };
    const account = {
      ...{ type: "virtual-account", name: "ci" },
      permissions: [{ resource_type: "cluster", resource_fqn: "prod", role_id: "cluster-viewer" }],
    };
    const space = { ...workspace, collaborators: [{ subject: "user:eve@x.io", role_id: "workspace-admin" }] };
    const live = {
      "team/ml": present({ ...members, members: ["ada@x.io"], managers: [] }, { createdBy: "me" }),
      "virtual-account/ci": { state: "absent" },
      "workspace/c1:ws1": present(workspace, { createdBy: "me" }),
    } as const;
    const planned = plan(
      [members, account, space].map((one) => declare(one)),
      { live, writers: new Set(["me"]) },
    );
    const said = messagesOf(planned).map(([, pointer, summary]) => `${pointer}: ${summary}`);
    expect(said.toSorted()).toEqual([
      "/collaborators/0: workspace/c1:ws1 would give somebody more rights (user:eve@x.io gets workspace-admin)",
      "/managers/0: team/ml would give somebody more rights (bob@x.io becomes a manager)",
      "/members/0: team/ml would give somebody more rights (zoe@x.io becomes a member)",
      "/permissions/0: virtual-account/ci would give somebody more rights (it gets cluster-viewer on cluster prod)",
    ]);
  });

  test("with the fields and values of every other danger", () => {
    const key = "secret://holdfast:platform:key";
    const was = service({ replicas: 2, env: { KEY: key }, ports: [{ port: 80 }, { port: 81 }] });
    const port = { port: 81, expose: true, host: "a.b.io", path: "/x" };
    const planned = plan([declare(service({ replicas: 0, ports: [{ port: 80 }, port] }))], {
      live: { "service/c1:ws1/api": present(was, { createdBy: "me" }) },
      writers: new Set(["me"]),
    });
    expect(messagesOf(planned)).toEqual([
      ["scale-to-zero", "/replicas", "service/c1:ws1/api may leave no replica running (2 → 0)"],
      ["exposure", "/ports/1", "service/c1:ws1/api would change what the network can reach (port 81/TCP at a.b.io/x)"],
      ["secret-removed", "/env/KEY", "service/c1:ws1/api would take a secret away (holdfast:platform:key)"],
    ]);
    expect(guardedSteps(planned, { risks: allRisks, isAllowed: () => false })).toMatchObject([
      { guard: { flags: [] } },
    ]);
  });

  test("with one message for all that is beyond the first ten", () => {
    const members = Array.from({ length: 13 }, (_, nth) => `u${nth}@x.io`);
    const planned = plan([declare({ type: "team", name: "ml", members })], {
      live: { "team/ml": { state: "absent" } },
    });
    const messages = messagesOf(planned);
    expect(messages).toHaveLength(11);
    expect(messages[10]?.[2]).toContain(
      "(u10@x.io becomes a member, u11@x.io becomes a member, u12@x.io becomes a member)",
    );
  });
});
