import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { stateMigrations } from "../../src/state/database/state-schema.ts";
import { copyRows, firstOf, migrateLikeEarlierReleases } from "../support/database-schemas.ts";
import { temporaryFolder } from "../support/folder.ts";
import { planOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const exportKey = { HOLDFAST_EXPORT_KEY: "ab".repeat(32) };

/** A source that was applied, with its state apart from it. */
async function applied() {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const state = join(await temporaryFolder(), "state");
  const env = { HOLDFAST_STATE: state };
  expect(await source.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({ code: 0 });
  return { server, source, state, env };
}

async function checkOf(source: Source, env: { readonly [name: string]: string }) {
  const ended = await source.runHere(["state", "check", "-o", "json"], env);
  return { code: ended.code, report: JSON.parse(ended.stdout) };
}

function setLedger(state: string, sql: string): void {
  using database = new DatabaseSync(join(state, "ledger.db"));
  database.exec(sql);
}

test("F44 a ledger of a newer release is refused by every command, and nothing is changed", async () => {
  const { server, source, state, env } = await applied();
  setLedger(state, "INSERT INTO kysely_migration VALUES ('999-of-tomorrow', '2027-01-01')");
  await source.write("services/api.yaml", service("api", "replicas: 3\n"));
  const before = server.effects();
  for (const args of [["apply", "--yes"], ["plan"], ["state", "check"]]) {
    const ended = await source.runHere(args, env);
    expect(ended).toMatchObject({ code: 1 });
    const said = ended.stdout + ended.stderr;
    expect(said).toMatch(/ledger\.db: it was written by a newer release/);
    expect(said).toMatch(/→ run the release that created it, or a newer one; nothing was changed/);
  }
  expect(server.effects()).toEqual(before);
  setLedger(state, "DELETE FROM kysely_migration WHERE name = '999-of-tomorrow'");
  expect(await checkOf(source, env)).toMatchObject({ code: 0 });
});

test("a ledger of an older release is upgraded by the next command, after a backup beside it", async () => {
  const { source, state, env } = await applied();
  const current = join(state, "current.db");
  await rename(join(state, "ledger.db"), current);
  const [older] = [join(state, "ledger.db")];
  await migrateLikeEarlierReleases(older, firstOf(stateMigrations(), 3));
  copyRows(current, older);
  expect((await checkOf(source, env)).report.ledgers).toMatchObject([{ schema: "older", problem: null }]);
  const plan = await source.runHere(["plan"], env);
  expect(plan).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
  expect(plan.stderr).toMatch(/ledger\.db was upgraded; its backup is .*003-receipt-mark\.backup/);
  expect(existsSync(`${older}.003-receipt-mark.backup`)).toBe(true);
  expect((await checkOf(source, env)).report.ledgers).toMatchObject([{ schema: "current", problem: null }]);
});

describe("holdfast state", () => {
  test("checks every sealed value, and says which ledger is sealed with another key or was changed", async () => {
    const { source, state, env } = await applied();
    expect((await checkOf(source, { ...env, HOLDFAST_STAT: "" })).report.diagnostics).toMatchObject([
      { code: "unknown-variable", severity: "warning" },
    ]);
    const sound = await checkOf(source, env);
    expect(sound).toMatchObject({ code: 0, report: { ledgers: [{ target: null, problem: null }] } });
    expect(sound.report.ledgers[0].servers).toMatchObject([{ resources: 8, pending: 0 }]);

    const other = await checkOf(source, { ...env, HOLDFAST_STATE_KEY: "cd".repeat(32) });
    expect(other).toMatchObject({ code: 1 });
    expect(other.report.ledgers[0].problem.message).toContain("sealed with another key");
    const exporting = ["state", "export", join(await temporaryFolder(), "exported")];
    const hold = ["hold", "team/ml", "--reason", "x", "--until", "commit"];
    for (const args of [hold, ["status"], ["why", "team/ml"], exporting]) {
      const refused = await source.runHere(args, { ...env, ...exportKey, HOLDFAST_STATE_KEY: "cd".repeat(32) });
      expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("with another key") });
    }
    // Without its key, no new one appears in the folder.
    await rename(join(state, "key"), join(state, "key.away"));
    for (const args of [hold, ["plan"], exporting]) {
      const refused = await source.runHere(args, { ...env, ...exportKey });
      expect(refused).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("none is given") });
    }
    await rename(join(state, "key.away"), join(state, "key"));

    setLedger(
      state,
      "UPDATE receipt SET sealed = (SELECT sealed FROM receipt WHERE identity = 'team/ml') WHERE identity = 'cluster/dev'",
    );
    const changed = await checkOf(source, env);
    expect(changed).toMatchObject({ code: 1 });
    expect(changed.report.ledgers[0].problem.message).toContain("a sealed value in it was changed");
  });

  test("moves a state to another folder with another key, tokens included, so that the next apply writes nothing", async () => {
    const { server, source, state, env } = await applied();
    const exported = join(await temporaryFolder(), "exported");
    const ended = await source.run(["state", "export", exported], { ...env, ...exportKey, COLUMNS: "80" });
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^keep the export key/) });
    expect(ended.stdout).toMatch(/1\s+ledger\s+and\s+1\s+token/);
    expect(ended.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const token = tokenIn(state);
    for (const file of filesIn(exported)) {
      expect(readFileSync(file, "latin1")).not.toContain(token);
      expect(readFileSync(file, "latin1")).not.toContain(readFileSync(join(state, "key"), "utf8").trim());
    }

    const moved = { HOLDFAST_STATE: join(await temporaryFolder(), "moved"), HOLDFAST_STATE_KEY: "ef".repeat(32) };
    expect(await source.runHere(["state", "import", exported], { ...moved, ...exportKey })).toMatchObject({ code: 0 });
    await rm(state, { recursive: true });
    expect(await checkOf(source, moved)).toMatchObject({ code: 0 });
    expect(tokenIn(moved.HOLDFAST_STATE)).toBe(token);
    const before = server.effects();
    expect(await source.runHere(["apply", "--yes", "--sink", "file"], moved)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
    expect(server.effects()).toEqual(before);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const [step] = planOf(await source.runHere(["plan", "-o", "json"], moved)).steps;
    expect(step?.changes).toMatchObject([{ path: "/replicas", cause: "manifest" }]);
  });

  test("refuses what cannot be imported, and leaves nothing behind", async () => {
    const { source, state, env } = await applied();
    const exported = join(await temporaryFolder(), "exported");
    expect(await source.runHere(["state", "export", exported], { ...env, ...exportKey })).toMatchObject({ code: 0 });
    expect(await source.runHere(["state", "export", exported], { ...env, ...exportKey })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("already exists"),
    });
    const fresh = { HOLDFAST_STATE: join(await temporaryFolder(), "fresh") };
    const refusals = [
      [env, exportKey, 5, "has a ledger already"],
      [fresh, {}, 3, "an exported state is sealed with a key, and none is given"],
      [fresh, { HOLDFAST_EXPORT_KEY: "cd".repeat(32) }, 3, "was sealed with another key"],
      [fresh, { HOLDFAST_EXPORT_KEY: "short" }, 3, "a key is 32 bytes"],
    ] as const;
    for (const [place, key, code, message] of refusals) {
      const ended = await source.runHere(["state", "import", exported], { ...place, ...key });
      expect(ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) });
      expect(ended.stderr).toMatch(/\n {2}→ \S/);
    }
    const ledger = join(exported, "ledger.db");
    writeFileSync(ledger, Buffer.concat([readFileSync(ledger), Buffer.from("x")]));
    expect(await source.runHere(["state", "import", exported], { ...fresh, ...exportKey })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("was changed after it was exported"),
    });
    expect(filesIn(fresh.HOLDFAST_STATE).filter((file) => /ledger|importing/.test(file))).toEqual([]);
    const [index] = filesIn(exported).filter((file) => file.endsWith("holdfast-state.json"));
    writeFileSync(index ?? "", readFileSync(index ?? "", "utf8").replace('"format":1', '"format":2'));
    expect(await source.runHere(["state", "import", exported], { ...fresh, ...exportKey })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("was exported by a newer release (format 2)"),
    });
    expect(await checkOf(source, { HOLDFAST_STATE: state })).toMatchObject({ code: 0 });
  });

  test("needs an action, and a state that is there", async () => {
    const source = await sourceOf({});
    expect(await source.runHere(["state", "mend"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("check, export"),
    });
    expect(await source.runHere(["state", "check"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("there is no ledger in"),
    });
  });
});

test("without its ledger, the next apply writes nothing that can be read and is equal, and causes are not known", async () => {
  const { server, source, state, env } = await applied();
  await rm(state, { recursive: true });
  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
  });
  const plan = planOf(await source.runHere(["plan", "-o", "json"], env));
  const causes = plan.steps.filter(({ action }) => action === "update").map(({ changes }) => changes[0]?.cause);
  expect(causes).toEqual(["unrecorded"]);
  const before = server.effects().length;
  expect(await source.runHere(["apply", "--yes", "--sink", "file"], env)).toMatchObject({ code: 0 });
  const written = server.effects().slice(before);
  expect(written.filter(({ resource }) => resource.startsWith("service/"))).toEqual([]);
  expect(await source.runHere(["plan"], env)).toMatchObject({ stdout: "Plan: nothing to do, 8 unchanged\n" });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function tokenIn(state: string): string {
  const [file = ""] = filesIn(join(state, "tokens"));
  return readFileSync(file, "utf8").trim();
}
