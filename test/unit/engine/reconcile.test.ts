import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findTarget } from "../../../src/commands/targets/find-targets.ts";
import type { Plan } from "../../../src/core/plan/plan.ts";
import type { PassEvent } from "../../../src/core/report/events.ts";
import type { ReadMemory } from "../../../src/engine/load/pass-memory.ts";
import { reconcile, reconcileAgain } from "../../../src/engine/reconcile.ts";
import { planReport } from "../../../src/render/pass-report.ts";
import type { CommitSource } from "../../../src/source/read-source.ts";
import { NO_MEMORY } from "../../../src/state/target-store.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll, git } from "../../support/git.ts";
import { team } from "../../support/manifests.ts";
import { terminalOf } from "../commands/terminal.ts";
import { folderOf, write } from "../source/source.ts";
import { controlPlane } from "./plane.ts";

/** A target with a source, a server and a state folder of its own, and what its passes report. */
async function targetWith(files: { readonly [file: string]: string }, env: { readonly [name: string]: string } = {}) {
  const plane = await controlPlane();
  plane.manners.missing.add("putLease");
  const folder = await folderOf(files);
  const { terminal } = terminalOf({ cwd: folder, env: { HOLDFAST_TOKEN: "test-token", ...env } });
  const flags = { server: plane.url, state: await temporaryFolder(), allowPrivilege: true };
  const target = await findTarget({ args: [], flags, terminal }, { reading: false });
  onTestFinished(() => target[Symbol.asyncDispose]());
  const events: PassEvent[] = [];
  const context = { ...terminal, emit: (event: PassEvent): void => void events.push(event) };
  const apply = {
    is: "apply",
    signed: null,
    approve: async () => ({ is: "confirmed" }) as const,
  } as const;
  return {
    plane,
    events,
    folder,
    target,
    context,
    plan: () =>
      reconcile(
        target,
        { is: "plan", showServer: false, showUnmanaged: false, showFingerprints: false, gate: null, signs: false },
        context,
      ),
    drift: () => reconcile(target, { is: "drift" }, context),
    apply: () => reconcile(target, apply, context),
    recorded: async () => {
      const { session } = await target.server.connect(target.rules({}));
      return [...(await session.heads()).keys()];
    },
  };
}

/** Resolves for everybody once that many have arrived. */
function barrier(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === size) resolve();
    return promise;
  };
}

test("two targets are reconciled in one process at the same time, each with its own source, server and state", async () => {
  const targets = [await targetWith({ "a.yaml": team("red") }), await targetWith({ "b.yaml": team("blue") })];
  const meet = barrier(targets.length);
  for (const { plane } of targets) plane.manners.beforeWrite = meet;
  const ends = await Promise.all(targets.map(({ apply }) => apply()));
  for (const [index, name] of ["red", "blue"].entries()) {
    const identity = `team/${name}`;
    expect(ends[index]).toMatchObject({ what: "applied", report: { outcomes: [{ identity, result: "created" }] } });
    expect(targets[index]?.plane.effects).toEqual([{ operation: "putTeam", key: name }]);
    expect(await targets[index]?.recorded()).toEqual([identity]);
  }
});

test("a plan counts the documents that are not ours", async () => {
  const { plan } = await targetWith({ "a.yaml": `${team("red")}---\nkind: Service\n---\ntype: gateway\n` });
  const end = await plan();
  if (end.what !== "planned") throw new Error(end.what);
  const paint = (_: unknown, text: string) => text;
  const report: Plan = JSON.parse(planReport(end, { output: "json", paint, width: 80, rows: null, now: null }));
  expect(report.unmanagedDocuments).toEqual({ documents: 2, types: { gateway: 1 } });
  expect(report.diagnostics).toEqual([]);
});

test("a pass reports by events, and ends with the one that it answers", async () => {
  const { apply, drift, events, plan, plane } = await targetWith({ "a.yaml": team("red") });
  const names = () => events.splice(0).map(({ what }) => what);
  expect(await plan()).toMatchObject({ what: "planned", plan: { summary: { create: 1 } } });
  expect(names()).toEqual(["read", "planned"]);
  expect(plane.effects).toEqual([]);
  await apply();
  expect(names()).toEqual(["read", "warned", "warned", "begun", "started", "finished", "applied"]);
  expect(await drift()).toMatchObject({ what: "drifted", report: { summary: { unchanged: 1 } } });
  expect(names()).toEqual(["read", "drifted"]);
});

test("a pass over a source with errors ends before the server is asked for anything", async () => {
  const { apply, events, plane } = await targetWith({
    "a.yaml": team("red"),
    "b.yaml": "type: team\nname: blue\nmembers: []\n",
  });
  expect(await apply()).toMatchObject({ what: "read", isRefused: true });
  expect(events).toHaveLength(1);
  expect(plane.asked).toEqual([]);
});

test.each([
  { cache: "on", known: [0, 1, 2] },
  { cache: "off", known: [0, 0, 0] },
])("passes over commits know $known files of earlier ones with HOLDFAST_CACHE=$cache", async ({ cache, known }) => {
  const files = { "a.yaml": team("red"), "b.yaml": team("blue") };
  const { target, context, events, folder } = await targetWith(files, { HOLDFAST_CACHE: cache });
  const repository = { top: null, gitFolder: join(folder, ".git"), commonFolder: join(folder, ".git") };
  await commitAll(folder, "first");
  const commits: CommitSource = {
    repository,
    resolve: () => git(folder, "rev-parse", "HEAD"),
    newest: () => null,
    keep: async () => undefined,
    kept: async () => null,
    deepen: async () => undefined,
    onUnreadable: () => undefined,
    retryNow: () => undefined,
  };
  const following = { ...target, source: { ...target.source, commits } };
  const mode = {
    is: "plan",
    showServer: false,
    showUnmanaged: false,
    showFingerprints: false,
    gate: null,
    signs: false,
  } as const;
  const readPaths: unknown[] = [];
  const onRead = (paths: unknown): void => void readPaths.push(paths);
  const again = (memory: ReadMemory) => reconcileAgain(following, mode, { memory, onRead }, context);
  const first = await again({ ...NO_MEMORY, lastApplied: null });
  write(folder, { "a.yaml": team("red", "eve@example.com") });
  await commitAll(folder, "second");
  const second = await again(first.memory);
  await again(second.memory);
  expect(readPaths).toEqual([null, null, null]);
  expect(events.flatMap((event) => (event.what === "read" ? event.knownFiles : []))).toEqual(known);
});
