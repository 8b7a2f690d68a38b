import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind } from "../support/manifests.ts";
import { makeSecretGroup } from "../support/secret-group.ts";
import { type Effect, type Server, serve } from "../support/server.ts";
import { exampleCount, exampleSource, examples, sourceOf } from "../support/source.ts";

// What a documented-only control plane cannot write, and what that refers to.
const seeds = [
  "platform/clusters",
  "platform/teams.yaml",
  "platform/accounts/nightly-eval.yaml",
  "ranking/workspaces.yaml",
  "ranking/ml-repo.yaml",
  "support/workspaces.yaml",
  "support/ml-repo.yaml",
];

describe("the examples", () => {
  test("become live on a full control plane, and a second apply writes nothing", async () => {
    const server = await serve();
    await makeSecretGroup(server);
    // A job that runs when it is deployed has its run in the audit log too.
    const writes = () => server.effects().filter(({ resource }) => !resource.startsWith("job-run/"));
    const before = writes().length;
    const source = await exampleSource(server);

    const first = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(first.code).toBe(0);
    const report = reportOf(first);
    expect(report.outcomes.filter(({ error }) => error !== null)).toEqual([]);
    expect(report.summary).toEqual({ ...nothing, created: exampleCount });
    expect(new Set(report.outcomes.map(({ kind }) => kind))).toEqual(new Set(kinds.map(({ type }) => type)));
    const written = writes().slice(before);
    expect(written).toHaveLength(exampleCount);
    expectOrder(written, waves);
    const effects = server.effects().length;

    const again = await source.runHere(["apply", "--yes", "-o", "json"]);
    expect(reportOf(again).summary).toEqual({ ...nothing, unchanged: exampleCount });
    expect(server.effects()).toHaveLength(effects);
    expect(await source.runHere(["plan", "--detailed-exitcode"])).toMatchObject({
      code: 0,
      stdout: `Plan: nothing to do, ${exampleCount} unchanged\n`,
      stderr: "",
    });
    await expectLive(server);
  });

  test("become live on a documented-only control plane, and a second apply writes nothing", async () => {
    const seed = await sourceOf({});
    const source = await exampleSource();
    for (const path of seeds) {
      await mkdir(dirname(join(seed.folder, path)), { recursive: true });
      await cp(join(examples, "manifests", path), join(seed.folder, path), { recursive: true });
    }
    const server = await serve(["--documented-only", "--seed", seed.folder]);
    await makeSecretGroup(server);
    const before = server.effects().length;
    const env = { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token };

    const first = await source.runHere(["apply", "--yes", "-o", "json"], env);
    expect(reportOf(first).outcomes.filter(({ error }) => error !== null)).toEqual([]);
    expect(first).toMatchObject({ code: 0 });
    const seeded = 8;
    const { outcomes, summary } = reportOf(first);
    const updated = outcomes.filter(({ result }) => result === "updated").map(({ identity }) => identity);
    // They were seeded and cannot be read: the time of creation, to the second, tells whether they were there before.
    const unread = ["team/ml-platform", "team/ranking", "team/support", "virtual-account/nightly-eval"];
    expect(unread).toEqual(expect.arrayContaining(updated));
    const created = exampleCount - seeded - updated.length;
    expect(summary).toEqual({ ...nothing, created, updated: updated.length, unchanged: seeded });
    const written = server.effects().length;

    const again = await source.runHere(["apply", "--yes"], env);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Applied: ${exampleCount} unchanged\n`),
      stderr: "",
    });
    expect(server.effects()).toHaveLength(written);
    expect(written).toBeGreaterThan(before);
  });
});

describe.each(controlPlaneVariants)("on a $name control plane", (plane) => {
  test("every kind becomes live, and a second apply writes nothing", async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    const before = server.effects().length;

    const first = await source.runHere(["apply", "--yes"]);
    expect(first.code).toBe(0);
    const made = plane.name === "full" ? 8 : 5;
    expect(first.stdout).toContain(`\n\nApplied: ${made} created`);
    expect(server.effects()).toHaveLength(before + made);

    const again = await source.runHere(["apply", "--yes"]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("\nApplied: 8 unchanged\n"), stderr: "" });
    expect(server.effects()).toHaveLength(before + made);
  });

  test("everything is there after the control plane was killed", async () => {
    const server = await plane.serveProcess();
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const before = server.effects();
    server.process.kill("SIGKILL");
    await server.process.ended;

    const port = new URL(server.url).port;
    const flags = plane.name === "full" ? [] : ["--documented-only"];
    const restarted = await serve(["--port", port, ...flags], { data: server.data });
    expect(restarted.token).toBe(server.token);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
    expect(restarted.effects()).toEqual(before);
  });
});

const nothing = { created: 0, updated: 0, unchanged: 0, skipped: 0, blocked: 0, failed: 0, unknown: 0, invalid: 0 };

const waves: readonly (readonly string[])[] = [
  ["team/ranking", "workspace/prod-eu:ranking", "service/prod-eu:ranking/ranker"],
  ["cluster/staging-eu", "workspace/staging-eu:ranking", "virtual-account/nightly-eval", "ml-repo/ranking"],
  ["ml-repo/ranking", "model-version/ranking/ranker@1", "model-version/ranking/ranker@2"],
  ["ml-repo/support", "chat_prompt/support/answer@1", "chat_prompt/support/answer@2"],
];

function expectOrder(effects: readonly Effect[], chains: readonly (readonly string[])[]): void {
  const resources = effects.map(({ resource }) => resource);
  for (const chain of chains) {
    const places = chain.map((resource) => resources.indexOf(resource));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
}

async function expectLive({ call }: Server): Promise<void> {
  const totals = await Promise.all(
    [
      "svc/v1/clusters",
      "svc/v1/workspaces",
      "svc/v1/apps",
      "svc/v1/teams",
      "svc/v1/virtual-accounts",
      "svc/v1/secret-groups?fqn=holdfast:search-index",
      "ml/v1/ml-repos",
      "ml/v1/prompt-versions",
      "ml/v1/model-versions",
    ].map(async (list) => [list, (await call("GET", `/api/${list}`)).pagination.total]),
  );
  const others = { clusters: 2, workspaces: 4, teams: 3, accounts: 3, groups: 1, repos: 2, prompts: 4, models: 4 };
  const applications = Object.values(others).reduce((left, count) => left - count, exampleCount);
  expect(Object.fromEntries(totals)).toEqual({
    "svc/v1/clusters": others.clusters,
    "svc/v1/workspaces": others.workspaces,
    "svc/v1/apps": applications,
    "svc/v1/teams": others.teams,
    "svc/v1/virtual-accounts": others.accounts,
    "svc/v1/secret-groups?fqn=holdfast:search-index": others.groups,
    "ml/v1/ml-repos": others.repos,
    "ml/v1/prompt-versions": others.prompts,
    "ml/v1/model-versions": others.models,
  });
}
