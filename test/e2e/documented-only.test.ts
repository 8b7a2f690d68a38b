import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll } from "../support/git.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, foundations, model, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve, serveProcess } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

/** A control plane with the documented operations alone, seeded with the given manifests. */
async function documentedOnly(seed: { readonly [file: string]: string }): Promise<Server> {
  return serve(["--documented-only", "--seed", (await sourceOf(seed)).folder]);
}

/** How each resource fared, by identity. */
async function outcomesOf(
  source: Source,
  args: readonly string[] = [],
): Promise<{ readonly [identity: string]: string }> {
  const { outcomes } = reportOf(await source.runHere(["apply", "--yes", "-o", "json", ...args]));
  return Object.fromEntries(
    outcomes.map(({ identity, result, error }) => [identity, error === null ? result : `${result}: ${error.code}`]),
  );
}

/** What is planned for each resource that does not stay as it is. */
async function stepsOf(source: Source, args: readonly string[] = []): Promise<{ readonly [identity: string]: string }> {
  const { steps } = planOf(await source.runHere(["plan", "-o", "json", ...args]));
  return Object.fromEntries(
    steps.map(({ identity, action, reason }) => [identity, reason === null ? action : `${action}: ${reason}`]),
  );
}

describe("where workspaces and ml repos cannot be written", () => {
  test("an absent one is blocked with the reason, and so is what stands in it; everything else goes on", async () => {
    const server = await documentedOnly({});
    const source = await sourceOf(everyKind, server);
    const planned = await source.runHere(["plan", "--detailed-exitcode"]);
    // Nothing tells whether the token sees all workspaces, so that this one may be there.
    expect(planned.code).toBe(1);
    expect(planned.stdout).toContain("! workspace/dev:web");
    expect(planned.stdout.replaceAll(/\s+/g, " ")).toContain(
      "forbidden: it may exist; this token cannot see it (workspace-viewer on workspace dev:web would show it if it exists)",
    );
    expect(await outcomesOf(source)).toEqual({
      "cluster/dev": "created",
      "team/ml": "created",
      "ml-repo/registry": "blocked: forbidden",
      "workspace/dev:web": "blocked: forbidden",
      "service/dev:web/api": "blocked: forbidden",
      "virtual-account/ci": "blocked: dependency",
      "chat_prompt/registry/greeting": "blocked: forbidden",
      "model-version/registry/ranker": "blocked: forbidden",
    });
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 7 });
    expect(
      server
        .effects()
        .map(({ resource }) => resource)
        .toSorted(),
    ).toEqual(["cluster/dev", "team/ml"]);
  });

  test("a drifted one is reported with its field, and never sent", async () => {
    const seed = {
      ...foundations,
      "platform/workspace.yaml": `${foundations["platform/workspace.yaml"]}labels: { tier: "1" }\n`,
    };
    const server = await documentedOnly(seed);
    const source = await sourceOf(foundations, server);
    const before = server.effects();
    const plan = planOf(await source.runHere(["plan", "-o", "json"]));
    expect(plan.steps).toMatchObject([
      { identity: "workspace/dev:web", action: "block", reason: "read-only", changes: [{ path: "/labels/tier" }] },
    ]);
    const detail = "no documented operation writes workspaces";
    expect(plan.diagnostics).toMatchObject([{ code: "read-only", detail }]);
    expect(server.effects()).toEqual(before);
  });

  test("what an earlier full run has made is taken as it is", async () => {
    const server = await serveProcess();
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    server.process.kill("SIGTERM");
    await server.process.ended;
    const restarted = await serve(["--documented-only", "--port", new URL(server.url).port], { data: server.data });
    const before = restarted.effects();
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
    expect(restarted.effects()).toEqual(before);
  });
});

describe("where live cannot be read", () => {
  test("the ledger stands in: an edit is an update with its field, and an untouched one is left alone", async () => {
    const server = await documentedOnly(foundations);
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("team.yaml", team("ml", "grace@example.com"));
    const plan = planOf(await source.runHere(["plan", "-o", "json", "--show", "unchanged"]));
    const byIdentity = new Map(plan.steps.map((step) => [step.identity, step]));
    expect(byIdentity.get("team/ml")).toMatchObject({ action: "update" });
    expect(byIdentity.get("team/ml")?.changes.map(({ cause }) => cause)).toEqual(["manifest", "manifest"]);
    expect(byIdentity.get("virtual-account/ci")).toMatchObject({ action: "keep", reason: "by-ledger" });
  });

  test("without a ledger an idempotent write makes sure, which is no change", async () => {
    const server = await documentedOnly(foundations);
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const before = server.effects();
    const fresh = ["--state", "fresh"];
    expect(await stepsOf(source, fresh)).toEqual({ "team/ml": "ensure", "virtual-account/ci": "ensure" });
    expect(await source.runHere(["plan", "--detailed-exitcode", ...fresh])).toMatchObject({ code: 0 });
    expect(await source.runHere(["apply", "--yes", ...fresh])).toMatchObject({ code: 0 });
    expect(server.effects()).toEqual(before);
    expect(await stepsOf(source, fresh)).toEqual({});
  });
});

describe("model versions, where only postModelVersion could write them", () => {
  const versions = (...numbers: readonly number[]) =>
    numbers.map((number) => model("ranker", `version: ${number}\nrun_id: run-${number}\n`)).join("---\n");

  test("are made where no version of the name exists, and further ones once the server was seen to register", async () => {
    const server = await documentedOnly(foundations);
    const source = await sourceOf({ ...foundations, "model.yaml": versions(1) }, server);
    expect(await outcomesOf(source)).toMatchObject({ "model-version/registry/ranker@1": "created" });
    await source.write("model.yaml", versions(1, 2));
    expect(await outcomesOf(source)).toMatchObject({
      "model-version/registry/ranker@1": "unchanged",
      "model-version/registry/ranker@2": "created",
    });
    const models = server.effects().filter(({ operation }) => operation === "5");
    expect(models.map(({ resource }) => resource)).toEqual([
      "model-version/registry/ranker@1",
      "model-version/registry/ranker@2",
    ]);
  });

  test("are blocked beside existing ones as long as nobody knows what it does, unless the operator says", async () => {
    const server = await documentedOnly({ ...foundations, "model.yaml": versions(1) });
    const source = await sourceOf({ ...foundations, "model.yaml": versions(1, 2) }, server);
    const before = server.effects();
    const blocked = { "model-version/registry/ranker@2": "block: model-version-write" };
    expect(await stepsOf(source)).toEqual(blocked);
    const ended = await source.runHere(["apply", "--yes"]);
    expect(ended.code).toBe(7);
    expect(ended.stdout).toContain("set modelVersionWrite: post when it does");
    expect(await stepsOf(source)).toEqual(blocked);
    expect(server.effects()).toEqual(before);

    const config = join(await temporaryFolder(), "operator.yaml");
    await writeFile(config, "modelVersionWrite: post\n");
    expect(await outcomesOf(source, ["--config", config])).toMatchObject({
      "model-version/registry/ranker@2": "created",
    });
  });

  test("under a new name are made beside blocked ones", async () => {
    const server = await documentedOnly({ ...foundations, "model.yaml": versions(1) });
    const files = { ...foundations, "model.yaml": versions(1, 2), "new.yaml": model("embedder") };
    expect(await outcomesOf(await sourceOf(files, server), ["--concurrency", "1"])).toMatchObject({
      "model-version/registry/embedder": "created",
      "model-version/registry/ranker@1": "unchanged",
    });
    const written = server.effects().filter(({ operation }) => operation === "5");
    expect(written.map(({ resource }) => resource)).toContain("model-version/registry/embedder@1");
  });
});

test("services and prompts are found, changed and kept by the documented operations alone", async () => {
  const server = await documentedOnly(foundations);
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const fresh = ["--state", "fresh", "--kind", "service", "chat_prompt"];
  expect(await stepsOf(source, fresh)).toEqual({});
  await source.write("services/api.yaml", service("api", "replicas: 4\n"));
  await source.write("registry/prompt.yaml", prompt("greeting", "Be kinder."));
  expect(await stepsOf(source, fresh)).toEqual({
    "service/dev:web/api": "update",
    "chat_prompt/registry/greeting": "update",
  });
  expect(await outcomesOf(source, fresh)).toMatchObject({
    "service/dev:web/api": "updated",
    "chat_prompt/registry/greeting": "updated",
  });
  const { data } = await server.call("GET", "/api/ml/v1/prompt-versions?name=greeting");
  expect(data.map(({ manifest }: { manifest: { version: number } }) => manifest.version)).toEqual([2, 1]);

  // Nothing lists teams, accounts and services, but a dry run of the manifest that left git shows what exists.
  await writeFile(join(source.folder, ".gitignore"), ".holdfast/\nfresh/\n");
  await commitAll(source.folder, "Declare");
  for (const file of ["team.yaml", "account.yaml", "services/api.yaml"]) await source.remove(file);
  await source.write("services/other.yaml", service("other"));
  await commitAll(source.folder, "Remove");
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const orphansBy = async (...args: readonly string[]) =>
    planOf(await source.runHere(["plan", "-o", "json", ...args])).steps.flatMap(({ identity, orphan }) =>
      orphan === undefined ? [] : [[identity, orphan.recorded, orphan.isLive]],
    );
  const effects = server.effects();
  const still = ["service/dev:web/api", "team/ml", "virtual-account/ci"];
  expect(await orphansBy()).toEqual(still.map((identity) => [identity, true, true]));
  expect(await orphansBy("--state", "none")).toEqual(still.map((identity) => [identity, false, true]));
  expect(server.effects()).toEqual(effects);
  using database = new DatabaseSync(join(server.data, "control-plane.db"), { timeout: 5000 });
  database.exec("DELETE FROM teams");
  const left = still.filter((identity) => identity !== "team/ml");
  expect(await orphansBy()).toEqual(left.map((identity) => [identity, true, true]));
  expect(await orphansBy("--state", "none")).toEqual(left.map((identity) => [identity, false, true]));
});
