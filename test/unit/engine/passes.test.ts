import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { freezeRefusal } from "../../../src/core/guards/write-refusal.ts";
import type { PendingIntent } from "../../../src/state/ledger.ts";
import { longestEventLoopDelay } from "../../support/event-loop-delay.ts";
import { eventually } from "../../support/eventually.ts";
import { declare, prompt, service } from "../core/given.ts";
import { extensions, passes, results } from "./passes.ts";
import { controlPlane } from "./plane.ts";

const cluster = declare({ type: "cluster", name: "c1", cluster_type: "generic" });
const workspace = declare({ type: "workspace", name: "ws1", cluster_fqn: "c1" });
const team = declare({ type: "team", name: "ml", members: ["a@x.io"] });
const account = declare({
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "t", resource_type: "tenant", role_id: "tenant-member" }],
});
const repo = declare({ type: "ml-repo", name: "r" });
const model = (fields: JsonObject = {}) =>
  declare({ type: "model-version", name: "m", ml_repo: "r", source: { type: "platform" }, ...fields });
const everything = [cluster, workspace, team, account, repo, declare(prompt()), model(), declare(service())];

/** A control plane where the workspace and the repo are there already. */
async function prepared() {
  const plane = await controlPlane();
  const first = await passes(plane.url);
  await first.apply([cluster, workspace, repo]);
  plane.effects.length = 0;
  return { plane, run: await passes(plane.url) };
}

describe("an apply", () => {
  test("writes everything once, in dependency order, and nothing the second time", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    const first = await run.apply(everything);
    expect(first.summary).toMatchObject({ created: 8, failed: 0 });
    const order = plane.effects.map(({ operation }) => operation);
    expect(order.indexOf("putCluster")).toBeLessThan(order.indexOf("putWorkspace"));
    expect(order.indexOf("putWorkspace")).toBeLessThan(order.indexOf("putApp"));
    const second = await run.apply(everything);
    expect(second.summary).toMatchObject({ unchanged: 8, created: 0, updated: 0 });
    expect(plane.effects).toHaveLength(8);
  });

  test("plans without a single write, and without getPersonalAccessToken", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await run.plan(everything);
    expect(plane.effects).toEqual([]);
    expect(
      plane.asked.filter(({ operation, dryRun }) => !dryRun && !/^(list|get(?!Personal))/.test(operation)),
    ).toEqual([]);
  });

  test("keeps the one-time token in its file and out of the report", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    const { tokens, ...report } = await run.apply([account]);
    expect(tokens).toHaveLength(1);
    expect(await readFile(tokens[0]?.location ?? "", "utf8")).toBe("CANARY-token-of-ci\n");
    expect(JSON.stringify({ tokens, report, progress: run.progress })).not.toContain("CANARY");
  });

  test("fails one resource and what depends on it, and goes on with the rest", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    plane.manners.refused.set("putTeam", { status: 422, message: "no such member" });
    const bound = declare({ ...workspace.value, collaborators: [{ subject: "team:ml", role_id: "workspace-viewer" }] });
    const report = await run.apply([cluster, team, bound, declare(service()), repo]);
    expect(results(report)).toEqual({
      "cluster/c1": "created",
      "team/ml": "failed",
      "workspace/c1:ws1": "blocked",
      "service/c1:ws1/api": "blocked",
      "ml-repo/r": "created",
    });
    expect(report.outcomes.find(({ identity }) => identity === "team/ml")?.error).toMatchObject({
      status: 422,
      message: "no such member",
    });
  });

  test("carries no secret of a manifest out in the server's words", async () => {
    const { plane, run } = await prepared();
    plane.manners.refused.set("putApp", { status: 422, message: "env.DB_PASSWORD: CANARY-1 is too weak" });
    const report = await run.apply([cluster, workspace, declare(service({ env: { DB_PASSWORD: "CANARY-1" } }))]);
    expect(results(report)["service/c1:ws1/api"]).toBe("failed");
    expect(JSON.stringify(report)).not.toContain("CANARY");
    expect(JSON.stringify(report)).toContain("(sensitive) is too weak");
  });

  test("stops writing at the first failure where it is asked to", async () => {
    const plane = await controlPlane();
    plane.manners.refused.set("putCluster", { status: 422, message: "no" });
    const run = await passes(plane.url);
    const report = await run.apply([cluster, team, repo], { failFast: true, concurrency: 1 });
    expect(report.summary).toMatchObject({ failed: 1, skipped: 2 });
    const why = "not sent: another step has failed, and --fail-fast ends the apply there";
    const skipped = report.outcomes.filter(({ result }) => result === "skipped").map(({ error }) => error);
    expect(skipped).toEqual([1, 2].map(() => ({ code: "stopped", message: why })));
    expect(plane.effects).toEqual([]);
  });

  test("starts nothing once it is asked to end, and says what it skipped", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    const report = await run.apply(everything, { stopping: AbortSignal.abort() });
    expect(report.summary.skipped).toBe(8);
    expect(new Set(report.outcomes.map(({ error }) => error?.message))).toEqual(
      new Set(["not sent: the run was asked to end"]),
    );
    expect(plane.effects).toEqual([]);
  });

  test("ends the step in flight when a freeze begins, and leaves the others out", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    const frozen = freezeRefusal({ until: Date.parse("2026-03-09T06:00:00Z"), reason: "weekend" });
    const refusal = (): typeof frozen | null => (plane.effects.length === 0 ? null : frozen);
    const report = await run.apply([cluster, team, repo], { refusal, concurrency: 1 });
    expect(report.summary).toMatchObject({ created: 1, skipped: 2 });
    const message = "not sent: the target is frozen until 2026-03-09T06:00:00Z: weekend";
    const skipped = report.outcomes.filter(({ result }) => result === "skipped").map(({ error }) => error);
    expect(skipped).toEqual([1, 2].map(() => ({ code: "frozen", message })));
    expect(plane.effects).toHaveLength(1);
    expect(report.pending).toEqual([]);
  });

  test("sends nothing for an account whose token could not be kept, and goes on", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await writeFile(join(run.folder, "tokens"), "in the way");
    const report = await run.apply([account, team]);
    expect(results(report)).toEqual({ "virtual-account/ci": "failed", "team/ml": "created" });
    expect(report.outcomes.find(({ identity }) => identity === account.identity)?.error?.code).toBe("token-sink");
    expect(plane.effects).toHaveLength(1);
  });

  test("forgets what left both git and live", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    await run.apply([team, repo]);
    plane.rows("teams").length = 0;
    expect((await run.plan([repo])).plan.steps.map(({ action }) => action)).toEqual(["keep"]);
    await run.apply([repo]);
    await using session = await run.session({});
    expect([...(await session.heads()).keys()]).toEqual(["ml-repo/r"]);
  });

  test("brings drift back, field by field", async () => {
    const { plane, run } = await prepared();
    const desired = [cluster, workspace, repo, declare(service({ replicas: 2 }))];
    await run.apply(desired);
    const elsewhere = await passes(plane.url);
    await elsewhere.apply([cluster, workspace, declare(service({ replicas: 5 }))]);
    const { plan } = await run.plan(desired);
    expect(plan.summary).toMatchObject({ update: 1, drift: 1 });
    expect(plan.steps.flatMap(({ changes }) => changes)).toEqual([
      { path: "/replicas", label: "replicas", before: 5, after: 2, cause: "drift", diff: null },
    ]);
    expect(results(await run.apply(desired))["service/c1:ws1/api"]).toBe("updated");
    expect((await run.plan(desired)).plan.summary).toMatchObject({ keep: 4, update: 0 });
  });
});

describe("writes that wait for their turn", () => {
  const teams = ["a", "b", "c", "d", "e", "f"].map((name) => declare({ type: "team", name, members: ["a@x.io"] }));

  /** A control plane that holds every write back until it is let go, and the journal as another reader sees it. */
  async function holding() {
    const plane = await controlPlane();
    const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
    let held = 0;
    let mostHeld = 0;
    plane.manners.beforeWrite = async () => {
      held += 1;
      mostHeld = Math.max(mostHeld, held);
      await go;
      held -= 1;
    };
    const run = await passes(plane.url);
    const pending = async (): Promise<readonly PendingIntent[]> => {
      await using one = await run.session({});
      return one.ledger.pending();
    };
    // Two that open it at the same time would both want to make it.
    await pending();
    const waiting = (intents: number, requests: number) =>
      eventually(
        `${intents} open intents, ${requests} sent`,
        async () => held === requests && (await pending()).length === intents,
      );
    return { plane, run, letGo, pending, waiting, mostHeld: () => mostHeld };
  }

  test("are journaled meanwhile, and no more are in flight than allowed", async () => {
    const { run, letGo, waiting, mostHeld } = await holding();
    const applying = run.apply(teams, { concurrency: 2 });
    await waiting(4, 2);
    letGo();
    const report = await applying;
    expect(report.summary).toMatchObject({ created: 6 });
    expect(report.pending).toEqual([]);
    expect(mostHeld()).toBe(2);
  });

  test("are sent as soon as a reply makes room for them, before its outcome is stored", async () => {
    const { run, letGo, waiting } = await holding();
    const storedBefore: number[] = [];
    const onWritten = (message: unknown): void => {
      const { request } = message as { readonly request: { readonly method: string } };
      if (request.method === "PUT") storedBefore.push(run.progress.filter(({ what }) => what === "finished").length);
    };
    subscribe("undici:client:sendHeaders", onWritten);
    try {
      const applying = run.apply(teams.slice(0, 2), { concurrency: 1 });
      await waiting(2, 1);
      letGo();
      expect((await applying).summary).toMatchObject({ created: 2 });
    } finally {
      unsubscribe("undici:client:sendHeaders", onWritten);
    }
    expect(storedBefore).toEqual([0, 0]);
  });

  test("are not sent once the apply is asked to end, and leave nothing in the journal", async () => {
    const { plane, run, letGo, waiting } = await holding();
    const ending = new AbortController();
    const applying = run.apply(teams, { concurrency: 2, stopping: ending.signal });
    await waiting(4, 2);
    ending.abort();
    letGo();
    const report = await applying;
    expect(report.summary).toMatchObject({ created: 2, skipped: 4, failed: 0, unknown: 0 });
    expect(report.pending).toEqual([]);
    expect(plane.effects).toHaveLength(2);
  });

  test("are journaled anew after a long wait, since no request may end after its intent's deadline", async () => {
    const { plane, run, letGo, pending, waiting } = await holding();
    const deadline = 60_000;
    let clock = Date.now();
    const applying = run.apply(teams.slice(0, 2), { concurrency: 1, deadline, now: () => clock });
    await waiting(2, 1);
    clock += deadline;
    const { promise: second, resolve: arrived } = Promise.withResolvers<readonly PendingIntent[]>();
    plane.manners.beforeWrite = () => pending().then(arrived);
    letGo();
    const deadlines = (await second).map((intent) => intent.deadline);
    expect(Math.max(...deadlines)).toBeGreaterThanOrEqual(clock + deadline);
    expect((await applying).summary).toMatchObject({ created: 2 });
    expect(await pending()).toEqual([]);
  });
});

describe("a reply that is swallowed after its effect", () => {
  test.each([
    ["putApp", "putApp", declare(service())],
    ["operation 3", "putPromptVersion", declare(prompt())],
    ["operation 17", "putCluster", declare({ type: "cluster", name: "c2", cluster_type: "generic" })],
    ["operation 19", "putTeam", team],
  ] as const)("of %s leaves one effect and one receipt", async (_, operation, manifest) => {
    const { plane, run } = await prepared();
    plane.manners.swallowed.set(operation, 1);
    const report = await run.apply([cluster, workspace, repo, manifest]);
    expect(results(report)[manifest.identity]).toBe("created");
    expect(report.pending).toEqual([]);
    const same = new Set(plane.effects.filter((one) => one.operation === operation).map(({ key }) => key));
    expect(same.size).toBe(1);
    if (operation === "putApp" || operation === "putPromptVersion") expect(plane.effects).toHaveLength(1);
    expect((await run.apply([cluster, workspace, repo, manifest])).summary).toMatchObject({ created: 0, updated: 0 });
  });

  test("of postModelVersion leaves one version, and teaches that this server registers", async () => {
    const { plane, run } = await prepared();
    plane.manners.missing.add("putModelVersion");
    plane.manners.swallowed.set("postModelVersion", 1);
    const report = await run.apply([repo, model()]);
    expect(results(report)).toMatchObject({ "model-version/r/m": "created" });
    expect(plane.effects).toEqual([{ operation: "postModelVersion", key: "r/m" }]);
    expect(report.facts.registers).toBe(true);
  });

  test("of putApp leaves one version of an application that lists ports without their protocol", async () => {
    const { plane, run } = await prepared();
    plane.manners.swallowed.set("putApp", 1);
    await run.apply([cluster, workspace, declare(service({ ports: [{ port: 80 }], env: { A: 1 } }))]);
    expect(plane.effects).toHaveLength(1);
  });

  test("of putApp leaves one version on a documented-only control plane too", async () => {
    const { plane, run } = await prepared();
    for (const name of extensions) plane.manners.missing.add(name);
    plane.manners.swallowed.set("putApp", 1);
    const report = await run.apply([cluster, workspace, declare(service())]);
    expect(results(report)["service/c1:ws1/api"]).toBe("created");
    expect(plane.effects.filter(({ operation }) => operation === "putApp")).toHaveLength(1);
  });

  test("of putVirtualAccount names the account whose token was lost", async () => {
    const plane = await controlPlane();
    const run = await passes(plane.url);
    plane.manners.swallowed.set("putVirtualAccount", 1);
    const report = await run.apply([account]);
    expect(report.outcomes[0]).toMatchObject({ result: "unknown", error: { code: "token-unrecovered" } });
    expect(plane.effects).toHaveLength(1);
  });
});

describe("a request that is lost before its effect", () => {
  test.each([
    ["putApp", "putApp", declare(service())],
    ["operation 3", "putPromptVersion", declare(prompt())],
    ["putVirtualAccount", "putVirtualAccount", account],
  ] as const)(
    "F80 of %s is sent again under its key once it cannot arrive any more",
    async (_, operation, manifest) => {
      const { plane, run } = await prepared();
      plane.manners.lost.set(operation, 1);
      plane.seen.length = 0;
      const report = await run.apply([cluster, workspace, repo, manifest]);
      const keys = plane.seen.flatMap(({ headers }) => headers["idempotency-key"] ?? []);
      expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
      expect(results(report)[manifest.identity]).toBe("created");
      expect(report.outcomes.find(({ identity }) => identity === manifest.identity)?.attempts).toBe(2);
      expect(plane.effects).toHaveLength(1);
    },
  );

  test("F80 again and again is unknown in the end, and the next run sends it under the same key", async () => {
    const { plane, run } = await prepared();
    plane.manners.lost.set("putApp", 9);
    const report = await run.apply([cluster, workspace, declare(service())]);
    expect(report.outcomes.at(-1)).toMatchObject({
      result: "unknown",
      attempts: 3,
      error: { code: "outcome-unknown" },
    });
    expect([plane.effects, report.pending.length]).toEqual([[], 1]);
    plane.manners.lost.clear();
    const next = await run.apply([cluster, workspace, declare(service())]);
    expect([results(next)["service/c1:ws1/api"], next.pending]).toEqual(["created", []]);
    const keys = plane.seen.flatMap(({ headers }) => headers["idempotency-key"] ?? []);
    expect(new Set(keys.slice(-4)).size).toBe(1);
  });
});

describe("postModelVersion", () => {
  test("that discards what it is given is found out and not tried again", async () => {
    const { plane, run } = await prepared();
    plane.manners.missing.add("putModelVersion");
    plane.manners.discardsModels = true;
    const report = await run.apply([repo, model()]);
    expect(report.outcomes.at(-1)).toMatchObject({ result: "failed", error: { code: "not-registered" } });
    expect(report.facts.registers).toBe(false);
    const again = await run.apply([repo, model()]);
    expect(again.outcomes.at(-1)).toMatchObject({ result: "blocked", error: { code: "model-version-write" } });
    expect(plane.asked.filter(({ operation }) => operation === "postModelVersion")).toHaveLength(1);
  });

  test("is never sent for a name that has versions, unless the operator says so", async () => {
    const { plane, run } = await prepared();
    await run.apply([repo, model()]);
    plane.manners.missing.add("putModelVersion");
    const other = await passes(plane.url);
    const changed = [repo, model({ step: 3 })];
    expect(results(await other.apply(changed))["model-version/r/m"]).toBe("blocked");
    expect(plane.asked.filter(({ operation }) => operation === "postModelVersion")).toHaveLength(0);
    expect(results(await other.apply(changed, { registersModels: true }))["model-version/r/m"]).toBe("updated");
  });
});

describe("what was learned of a control plane", () => {
  test("F76 is not undone by a command that began before it was learned", async () => {
    const { plane, run } = await prepared();
    plane.manners.missing.add("putModelVersion");
    {
      await using slow = await run.session({});
      await run.apply([repo, model()]);
      slow.capabilities.learn("listTeams", "yes");
    }
    await using after = await run.session({});
    expect(await after.ledger.facts()).toMatchObject({ registers: true, routes: { listTeams: "yes" } });
  });
});

describe("a deployment in progress", () => {
  test("is waited for and then followed by ours, under the key of the refused request", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    plane.effects.length = 0;
    plane.seen.length = 0;
    plane.manners.rollingOut = 3;
    const report = await run.apply([cluster, workspace, declare(service({ replicas: 2 }))]);
    expect(results(report)["service/c1:ws1/api"]).toBe("updated");
    expect(plane.effects).toHaveLength(1);
    expect(report.pending).toEqual([]);
    const keys = plane.seen.flatMap(({ headers }) => headers["idempotency-key"] ?? []);
    expect([keys.length > 1, new Set(keys).size]).toEqual([true, 1]);
  });

  test("is left to end on its own where something newer waits, ours too", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    plane.manners.rollingOut = 1_000;
    const stopWaiting = AbortSignal.abort();
    const putOff = await run.apply([cluster, workspace, declare(service({ replicas: 2 }))], { stopWaiting });
    expect(putOff.outcomes.at(-1)).toMatchObject({ result: "skipped", error: { code: "rollout-in-progress" } });
    expect(putOff.pending).toEqual([]);
    plane.manners.rollingOut = 0;
    expect(results(await run.apply([cluster, workspace, declare(service({ replicas: 2 }))]))).toMatchObject({
      "service/c1:ws1/api": "updated",
    });
  });

  test("that ends before we look is followed by ours too", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    plane.effects.length = 0;
    plane.manners.justEnded = 1;
    const report = await run.apply([cluster, workspace, declare(service({ replicas: 2 }))]);
    expect(results(report)["service/c1:ws1/api"]).toBe("updated");
    expect(plane.effects).toHaveLength(1);
  });

  test("that is announced again and again is given up in the end", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    plane.effects.length = 0;
    plane.manners.justEnded = 100;
    const report = await run.apply([cluster, workspace, declare(service({ replicas: 2 }))]);
    expect(results(report)["service/c1:ws1/api"]).toBe("failed");
    expect(plane.manners.justEnded).toBeGreaterThan(90);
    expect(plane.effects).toEqual([]);
  });
});

describe("ignore rules as many as there may be", () => {
  const match = (n: number) => `*${"s?".repeat(14)}*/**/*${n}x*`;
  const ignore = Array.from({ length: 200 }, (_, n) => ({ path: "/replicas", match: match(n), reason: "hostile" }));
  const clusters = Array.from({ length: 1500 }, (_, n) => {
    return declare({ type: "cluster", name: `s${n}`, cluster_type: "generic" });
  });

  test("S43 never keep the event loop for long", async () => {
    const run = await passes((await controlPlane()).url);
    const hold = await longestEventLoopDelay(async () => {
      expect((await run.plan(clusters, { ignore })).plan.summary).toMatchObject({ create: 1500 });
    });
    expect(hold).toBeLessThan(1000);
  });
});

describe("a control plane that ignores dryRun", () => {
  test("is found out at the first dry run and never asked for another", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    const other = await passes(plane.url);
    plane.effects.length = 0;
    plane.asked.length = 0;
    plane.manners.ignoresDryRun = true;
    const desired = [cluster, workspace, declare(service({ replicas: 2 }))];
    await expect(other.plan(desired)).rejects.toThrow("ignores dryRun");
    expect(plane.effects).toHaveLength(1);
    await expect(other.plan([...desired, declare(service({ name: "web" })), team]))
      .rejects.toThrow("ignores dryRun")
      .catch(() => undefined);
    expect(plane.asked.filter(({ dryRun }) => dryRun)).toHaveLength(1);
  });
});

describe("a documented-only control plane", () => {
  async function documented() {
    const { plane, run } = await prepared();
    for (const name of extensions) plane.manners.missing.add(name);
    return { plane, run };
  }

  test("is planned and applied whole, and the second apply writes nothing", async () => {
    const { plane, run } = await documented();
    const first = await run.apply(everything);
    expect(results(first)).toMatchObject({
      "cluster/c1": "unchanged",
      "workspace/c1:ws1": "unchanged",
      "service/c1:ws1/api": "created",
      "team/ml": "created",
      "virtual-account/ci": "created",
    });
    plane.effects.length = 0;
    const second = await run.apply(everything);
    expect(second.summary).toMatchObject({ unchanged: 8 });
    expect(plane.effects).toEqual([]);
  });

  test("gives ids through dry runs, for a runner without a ledger", async () => {
    const { plane, run } = await documented();
    await run.apply(everything);
    plane.effects.length = 0;
    const other = await passes(plane.url);
    const { plan } = await other.plan(everything);
    const action = (identity: string) => plan.steps.find((step) => step.identity === identity)?.action;
    expect(["service/c1:ws1/api", "cluster/c1"].map(action)).toEqual(["keep", "keep"]);
    expect(["team/ml", "virtual-account/ci"].map(action)).toEqual(["ensure", "ensure"]);
    expect(plane.effects).toEqual([]);
  });

  test("never concludes that a workspace is absent, and blocks what stands in it", async () => {
    const { run } = await documented();
    const absent = declare({ type: "workspace", name: "ws2", cluster_fqn: "c1" });
    const report = await run.apply([cluster, absent, declare(service({ workspace_fqn: "c1:ws2" }))]);
    expect(report.outcomes.map(({ result, error }) => [result, error?.code])).toEqual([
      ["unchanged", undefined],
      ["blocked", "forbidden"],
      ["blocked", "forbidden"],
    ]);
  });

  test("F73 is told apart anew by each run, and only once in it", async () => {
    const { plane, run } = await documented();
    await run.apply(everything);
    plane.seen.length = 0;
    const { plan, notUsed } = await run.plan(everything);
    expect(plane.seen.filter(({ path, method }) => method === "GET" && path === "/api/svc/v1/teams")).toHaveLength(1);
    expect(notUsed).toMatchObject([
      { extension: "E3", operation: "GET /api/svc/v1/clusters", cost: "each cluster is read by its id" },
      { extension: "E4" },
      { extension: "E5" },
      { extension: "E6" },
      { extension: "E14", operation: "GET /api/svc/v1/me" },
    ]);
    expect([plan.complete, plan.diagnostics]).toEqual([true, []]);
    // What was missing may have come since.
    plane.manners.missing.clear();
    expect((await run.plan(everything)).notUsed).toEqual([]);
  });
});

describe("live that cannot be read in full", () => {
  test("leaves the plan incomplete and its resources blocked, others planned", async () => {
    const { plane, run } = await prepared();
    plane.manners.refused.set("listPromptVersions", { status: 400, message: "bad query" });
    const { plan } = await run.plan([repo, declare(prompt()), team]);
    expect(plan.complete).toBe(false);
    expect(plan.steps.map(({ action, reason }) => [action, reason])).toEqual([
      ["keep", null],
      ["create", null],
      ["block", "unreadable"],
    ]);
    expect(plan.diagnostics.map(({ code }) => code)).toContain("unreadable");
  });

  test("ends the whole pass where the token is not taken", async () => {
    const { plane, run } = await prepared();
    plane.manners.refused.set("listMlRepos", { status: 401, message: "who are you" });
    await expect(run.plan([repo])).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("does not hang on a dry run that fails", async () => {
    const { plane, run } = await prepared();
    await run.apply([cluster, workspace, declare(service({ replicas: 1 }))]);
    const other = await passes(plane.url);
    plane.manners.refused.set("putApp", { status: 418, message: "no dry runs here" });
    const { plan } = await other.plan([cluster, workspace, declare(service({ replicas: 2 }))]);
    expect(plan.steps.at(-1)).toMatchObject({ changes: [{ path: "/replicas", before: 1, after: 2 }] });
  });
});
