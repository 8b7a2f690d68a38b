import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { driftOf, planOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import { fullDisk, needsMounts, openVolume, readOnly } from "../support/namespace-commands.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** A source that was applied, and has changed since: one change of ours, and one of somebody else's. */
async function changed() {
  const server = await serve();
  const source = await sourceOf({ ...everyKind, "services/web.yaml": service("web", "replicas: 2\n") }, server);
  expect(await source.run(["apply", "--yes"])).toMatchObject({ code: 0 });
  await source.write("services/api.yaml", service("api", "replicas: 3\n"));
  const image = { type: "image", image_uri: "registry.example.com/web:1.0.0" };
  const web = { type: "service", name: "web", workspace_fqn: "dev:web", image, ports: [{ port: 8080 }], replicas: 5 };
  await server.call("PUT", "/api/svc/v1/apps", { manifest: web });
  return { server, source, state: join(source.folder, ".holdfast"), before: server.effects() };
}

type Changed = Awaited<ReturnType<typeof changed>>;

/** What a plan and a drift report must say, whatever became of the state folder. */
async function expectSeen({ source }: Changed, through: readonly string[], why: RegExp): Promise<void> {
  const plan = await source.runThrough(through, ["plan", "-o", "json"]);
  expect(plan).toMatchObject({ code: 0 });
  const causes = planOf(plan).steps.map(({ identity, changes }) => [identity, changes.map(({ cause }) => cause)]);
  expect(causes).toEqual([
    ["service/dev:web/api", ["manifest"]],
    ["service/dev:web/web", ["drift"]],
  ]);
  const drift = await source.runThrough(through, ["drift", "-o", "json"]);
  expect(drift).toMatchObject({ code: 2 });
  expect(driftOf(drift).summary).toMatchObject({ drifted: 1, absent: 0 });
  for (const { stderr } of [plan, drift]) {
    expect(stderr).toMatch(/^warning: what is learned about the control plane is not remembered for the next run: /m);
    expect(stderr).toMatch(why);
    expect(stderr).not.toContain("fault of holdfast");
  }
}

async function expectNoApply(
  { source, server, before }: Changed,
  through: readonly string[],
  why: RegExp,
): Promise<void> {
  const apply = await source.runThrough(through, ["apply", "--yes"]);
  expect(apply).toMatchObject({ code: 1, stdout: "" });
  expect(apply.stderr).toMatch(why);
  expect(apply.stderr).toMatch(/\n {2}→ nothing was sent/);
  expect(server.effects()).toEqual(before);
}

describe("F82 a state folder that cannot be written", () => {
  test("F82 that is read-only is read as it is: causes are told, and nothing is applied", async (context) => {
    needsMounts(context);
    const all = await changed();
    const through = readOnly(all.state);
    await expectSeen(all, through, /ledger\.db: the file system is read-only \(EROFS\) \[not-remembered\]$/m);
    await expectNoApply(
      all,
      through,
      /^error: the state folder .*\.holdfast cannot be used: the file system is read-only/m,
    );
  });

  test("F82 that is read-only is checked, whether or not a process has left its log there", async (context) => {
    needsMounts(context);
    const { source, state } = await changed();
    const through = readOnly(state);
    const whole = { code: 0, stdout: expect.stringContaining("9 resources") };
    expect(await source.runThrough(through, ["state", "check"])).toMatchObject(whole);
    using reader = new DatabaseSync(join(state, "ledger.db"));
    reader.exec("SELECT count(*) FROM receipt");
    expect(existsSync(join(state, "ledger.db-shm"))).toBe(true);
    expect(await source.runThrough(through, ["state", "check"])).toMatchObject(whole);
  });

  test("F82 on a full disk is read as it is: causes are told, and nothing is applied", async (context) => {
    needsMounts(context);
    const all = await changed();
    const through = fullDisk(all.state);
    await expectSeen(all, through, /ledger\.db: no space is left on the disk \(ENOSPC\) \[not-remembered\]$/m);
    await expectNoApply(
      all,
      through,
      /^error: the state folder .*\.holdfast cannot be used: no space is left on the disk/m,
    );
  });

  test("F82 that cannot be made is done without by a plan and a drift report, which say so", async (context) => {
    needsMounts(context);
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const through = readOnly(source.folder);
    const plan = await source.runThrough(through, ["plan"]);
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toContain("8 to create");
    const line =
      /^warning: what this run learns is not remembered for the next run: .*\.holdfast: the file system is read-only \(EROFS\) \[not-remembered\]\n/m;
    expect(plan.stderr).toMatch(line);
    const drift = await source.runThrough(through, ["drift"]);
    expect(drift).toMatchObject({ code: 2 });
    expect(drift.stderr).toMatch(line);
    const apply = await source.runThrough(through, ["apply", "--yes"]);
    expect(apply).toMatchObject({ code: 1, stdout: "" });
    expect(apply.stderr).toMatch(/^error: the state folder .*\.holdfast cannot be used: the file system is read-only/m);
    expect(server.effects()).toEqual([]);
    expect(existsSync(join(source.folder, ".holdfast"))).toBe(false);
  });

  test("F82 without room for a single byte leaves nothing half made behind, and the next run goes on", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const plan = await source.runWithin(0, ["plan"]);
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stderr).toMatch(
      /^warning: what this run learns is not remembered for the next run: .*\.holdfast: .*EFBIG/m,
    );
    const apply = await source.runWithin(0, ["apply", "--yes"]);
    expect(apply).toMatchObject({ code: 1, stdout: "" });
    expect(apply.stderr).toMatch(
      /^error: the state folder .*\.holdfast cannot be used: the file may not grow so large/m,
    );
    expect(server.effects()).toEqual([]);
    expect(readdirSync(join(source.folder, ".holdfast"))).toEqual([]);
    expect(await source.run(["apply", "--yes"])).toMatchObject({ code: 0 });
    const again = await source.runWithin(0, ["plan"]);
    expect(again).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
    expect(again.stderr).toMatch(/^warning: what is learned about the control plane is not remembered/m);
  });

  test("F82 in which one thing cannot be kept says which, where and why, and plans the same", async () => {
    const { source, server, state } = await changed();
    const kept = join(state, "cache", `live-${new URL(server.url).host.replace(":", "_")}`);
    await rm(kept, { force: true });
    await mkdir(kept, { recursive: true, mode: 0o700 });
    const plan = await source.run(["plan", "-o", "json"], { HOLDFAST_CACHE: "on" });
    expect(plan).toMatchObject({ code: 0 });
    expect(planOf(plan)).toMatchObject({ summary: { update: 2 }, diagnostics: [{ code: "not-remembered" }] });
    expect(plan.stderr).toBe(
      `warning: what was read of the control plane is not remembered for the next run: ${kept} is a folder, not a regular file [not-remembered]\n`,
    );
  });
});

test("S40 a volume that everybody may write can hold the state, where nothing but it is mounted", async (context) => {
  needsMounts(context);
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const outside = await sourceOf({});
  const volume = join(outside.folder, "volume");
  await mkdir(volume);
  const plan = await source.runThrough(openVolume(volume), ["plan", "--state", volume]);
  expect(plan).toMatchObject({ code: 0, stderr: "" });
  const inside = join(source.folder, "volume");
  await mkdir(inside);
  const refused = await source.runThrough(openVolume(inside), ["plan", "--state", inside]);
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain("volume: others can write it");
});
