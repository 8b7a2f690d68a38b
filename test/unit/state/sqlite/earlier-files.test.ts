import fs, { existsSync, readdirSync, readlinkSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { parseKey } from "../../../../src/seal/seal-key.ts";
import { stateMigrations } from "../../../../src/state/database/state-schema.ts";
import { exportState, importState, stateAt } from "../../../../src/state/open-state.ts";
import { retireEarlierFiles } from "../../../../src/state/sqlite/earlier-files.ts";
import { holdExclusiveLock } from "../../../../src/store/lock-file.ts";
import { copyRows, firstOf, migrateLikeEarlierReleases } from "../../../support/database-schemas.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { openLedger } from "../../../support/open-ledger.ts";
import { receipt } from "../../../support/sample-ledger.ts";

const keyText = "11".repeat(32);
const inFolder = (folder: string) => ({ folder, database: null });
const hold = { what: "team/ml", reason: "incident", until: "commit", content: "one" };
const pass = (commit: string, result: string) => {
  const [startedAt, endedAt] = ["2026-11-22T11:00:00.000Z", "2026-11-22T11:00:01.000Z"];
  return { startedAt, endedAt, commit, result, reason: null, message: null, counts: { unchanged: 3 } };
};
const PASSES = [pass("c1", "applied"), pass("c2", "standing-by"), pass("c3", "partial")];

/** A state folder as the last release without a table for its target left it. */
async function earlierFolder() {
  const folder = await temporaryFolder();
  const newer = join(await temporaryFolder(), "ledger.db");
  {
    await using ledger = await openLedger(newer, { server: "http://server", key: parseKey(keyText) });
    await ledger.record([receipt()]);
  }
  await migrateLikeEarlierReleases(join(folder, "ledger.db"), firstOf(stateMigrations(), 6));
  copyRows(newer, join(folder, "ledger.db"));
  const { invalid: _, ...status } = newStatus("prod", null);
  const files = {
    "holds.json": JSON.stringify({ holds: [hold], released: ["abcdef1"] }),
    // A crash has cut the last line.
    "history.jsonl": `${PASSES.map((one) => `${JSON.stringify(one)}\n`).join("")}5\n{}\n{"startedAt":"20`,
    "status.json": JSON.stringify({ ...status, appliedRevision: "c3", wantedRevision: "c3", lastPass: PASSES[2] }),
    holder: "0a1b2c3d",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  return { folder, files };
}

test("a state folder of an earlier release is taken over whole, with a backup of each of its files", async () => {
  const { folder, files } = await earlierFolder();
  const notices: string[] = [];
  await using access = stateAt(folder, { ...machine, notify: (notice) => notices.push(notice) });
  const target = await access.target();
  expect(await target.decisions()).toEqual({ holds: [hold], released: ["abcdef1"] });
  const { entries } = await target.passes({ limit: 10 });
  expect(entries.map(({ result }) => result)).toEqual(["incomplete", "superseded", "applied"]);
  // The last commit was never applied whole.
  expect(await target.status()).toMatchObject({
    invalid: [],
    appliedRevision: "c1",
    lastPass: { result: "incomplete" },
  });
  const state = await access.open({ keyText });
  expect(await state.holder()).toMatch(/ \(0a1b2c3d\)$/);
  expect([...(await (await state.ledger("http://server")).recorded()).values()]).toEqual([receipt()]);
  expect(notices).toEqual([expect.stringContaining("ledger.db.006-intent-at.backup")]);
  for (const [name, text] of Object.entries(files))
    expect(await readFile(join(folder, `${name}.before-007.backup`), "utf8")).toBe(text);
  // The earlier release cannot store a hold that nobody would see.
  expect(readdirSync(join(folder, "holds.json"))).toEqual(["README"]);
});

test("a state folder without a database is taken over too, and one that was taken over stays as it is", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "holds.json"), JSON.stringify({ holds: [hold], released: [] }), { mode: 0o600 });
  for (let nth = 0; nth < 2; nth += 1) {
    await using access = stateAt(folder, machine);
    expect((await (await access.target()).decisions()).holds).toEqual([hold]);
  }
});

test("a new state folder lets no earlier release store a hold that nobody would see", async () => {
  const folder = await temporaryFolder();
  await using access = stateAt(folder, machine);
  await (await access.target()).decide((decisions) => decisions);
  expect(readdirSync(join(folder, "holds.json"))).toEqual(["README"]);
});

test("holds alone are exported and imported, also where an earlier release stored them or no key was made", async () => {
  const state = await temporaryFolder();
  const earlier = join(state, "targets", "earlier");
  await mkdir(earlier, { recursive: true });
  await writeFile(join(earlier, "holds.json"), JSON.stringify({ holds: [hold], released: [] }), { mode: 0o600 });
  const current = join(state, "targets", "current");
  const holdsIn = async (folder: string) => {
    await using access = stateAt(folder, machine);
    return (await (await access.target()).decisions()).holds;
  };
  {
    await using access = stateAt(current, machine);
    await (await access.target()).decide(() => ({ holds: [hold], released: [] }));
  }
  const exported = join(await temporaryFolder(), "exported");
  const options = { ...machine, keyText: null, exportKey: parseKey("ab".repeat(32)) };
  expect(await exportState(inFolder(state), exported, options)).toEqual({ ledgers: 2, tokens: 0 });
  expect(readdirSync(earlier)).toEqual(["holds.json"]);
  const imported = await temporaryFolder();
  expect(await importState(exported, inFolder(imported), options)).toEqual({ ledgers: 2, tokens: 0 });
  for (const name of ["earlier", "current"]) expect(await holdsIn(join(imported, "targets", name))).toEqual([hold]);
});

test("a crash before the files were put away loses nothing and takes nothing over twice", async () => {
  const { folder, files } = await earlierFolder();
  {
    await using access = stateAt(folder, machine);
    await (await access.target()).decide(() => ({ holds: [], released: [] }));
  }
  // As if the process had been killed right after the database was upgraded.
  await writeFile(join(folder, "history.jsonl"), files["history.jsonl"], { mode: 0o600 });
  await using access = stateAt(folder, machine);
  const target = await access.target();
  await target.decide((decisions) => decisions);
  expect(await target.decisions()).toEqual({ holds: [], released: [] });
  expect((await target.passes({ limit: 10 })).entries).toHaveLength(PASSES.length);
  expect(existsSync(join(folder, "history.jsonl"))).toBe(false);
});

const DAMAGED: readonly (readonly ["holds.json" | "status.json", string])[] = [
  ["holds.json", "{"],
  ["holds.json", "[]"],
  ["holds.json", '{"holds":[{"what":"team/ml"}],"released":[]}'],
  ["status.json", "null"],
  ["status.json", "{}"],
];

test.each(DAMAGED)("%s that cannot be taken over, as %s, leaves everything as it is", async (name, text) => {
  const { folder, files } = await earlierFolder();
  await writeFile(join(folder, name), text, { mode: 0o600 });
  {
    await using access = stateAt(folder, machine);
    const target = await access.target();
    await expect(target.decisions()).rejects.toThrow(`${name} is damaged`);
  }
  expect(await readFile(join(folder, "history.jsonl"), "utf8")).toBe(files["history.jsonl"]);
  await writeFile(join(folder, name), files[name], { mode: 0o600 });
  await using access = stateAt(folder, machine);
  expect((await (await access.target()).decisions()).holds).toEqual([hold]);
});

test("a state folder with which a process of an earlier release writes is not taken over", async () => {
  const { folder } = await earlierFolder();
  {
    await using _lock = holdExclusiveLock(join(folder, "lock.db")) ?? undefined;
    await using access = stateAt(folder, machine);
    const target = await access.target();
    await expect(target.decisions()).rejects.toMatchObject({ code: "locked" });
    await expect(target.decide((decisions) => decisions)).rejects.toMatchObject({ code: "locked" });
    expect(existsSync(join(folder, "holds.json.before-007.backup"))).toBe(false);
  }
  await using access = stateAt(folder, machine);
  expect((await (await access.target()).decisions()).holds).toEqual([hold]);
});

test("two processes may put the files away at the same moment", async () => {
  const { folder, files } = await earlierFolder();
  const { renameSync } = fs;
  // The other process is always a step ahead.
  fs.renameSync = (from, to) => {
    fs.renameSync = renameSync;
    syncBuiltinESMExports();
    retireEarlierFiles(folder);
    renameSync(from, to);
  };
  syncBuiltinESMExports();
  retireEarlierFiles(folder);
  for (const [name, text] of Object.entries(files))
    expect(await readFile(join(folder, `${name}.before-007.backup`), "utf8")).toBe(text);
  expect(readdirSync(join(folder, "holds.json"))).toEqual(["README"]);
});

test("the export of a state folder of an earlier release has what that release kept in files", async () => {
  const { folder, files } = await earlierFolder();
  const [to, imported] = [join(await temporaryFolder(), "exported"), join(await temporaryFolder(), "imported")];
  const options = { ...machine, keyText, exportKey: parseKey("22".repeat(32)) };
  await exportState(inFolder(folder), to, options);
  await importState(to, inFolder(imported), options);
  await using access = stateAt(imported, machine);
  const target = await access.target();
  expect(await target.decisions()).toEqual({ holds: [hold], released: ["abcdef1"] });
  expect((await target.passes({ limit: 10 })).entries).toHaveLength(PASSES.length);
  expect((await target.status())?.appliedRevision).toBe("c1");
  // An export changes nothing in the folder.
  expect(await readFile(join(folder, "holds.json"), "utf8")).toBe(files["holds.json"]);
});

test("reads that come at the same time share one connection, which is closed with the state", async () => {
  const { folder } = await earlierFolder();
  for (const _release of ["earlier", "this"]) {
    await using access = stateAt(folder, machine);
    const target = await access.target();
    await Promise.all([target.status(), target.decisions(), target.passes({ limit: 1 }), target.memory()]);
  }
  const open = readdirSync("/proc/self/fd").flatMap((fd) => readlinkOrNull(`/proc/self/fd/${fd}`) ?? []);
  expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
});

function readlinkOrNull(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
