import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { stateAt } from "../../../../src/state/open-state.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";

const status = newStatus("prod", null);

test("a page of drift events is read in the order of an index, and their days from an index alone", async () => {
  const folder = await temporaryFolder();
  {
    await using state = stateAt(folder, machine);
    await (await state.target()).keep({ status });
  }
  using database = new DatabaseSync(join(folder, "ledger.db"));
  const planOf = (query: string): string =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${query}`)
      .all()
      .map(({ detail }) => detail)
      .join("; ");
  const drifted = "FROM resource_event WHERE has_drifted = 1";
  expect(planOf(`SELECT nth, event ${drifted} ORDER BY nth DESC LIMIT 51`)).toBe(
    "SEARCH resource_event USING INDEX event_drift_order (has_drifted=?)",
  );
  expect(planOf(`SELECT day, count(DISTINCT identity) ${drifted} GROUP BY day`)).toContain("COVERING INDEX");
});

test("a pass over a part of the source reads what was not as declared of that part alone", async () => {
  await using state = stateAt(await temporaryFolder(), machine);
  const target = await state.target();
  const failed = (identity: string) =>
    ({ identity, state: "failed", rollout: null, hasDrifted: false, why: "refused" }) as const;
  const seen = { at: "2026-01-01T00:00:00.000Z", commit: null };
  const names = Array.from({ length: 1_200 }, (_, nth) => `team/t${nth}`);
  await target.keep({ status, resources: { ...seen, isWhole: true, statuses: names.map(failed) } });
  const settled = { ...failed("team/t7"), state: "updated", why: null } as const;
  const part = [settled, failed("team/t8"), ...names.slice(100, 700).map(failed)];
  await target.keep({ status, resources: { ...seen, isWhole: false, statuses: part } });
  const { entries } = await target.unsettled({}, { limit: 2_000 });
  expect(entries.map(({ identity }) => identity).toSorted()).toEqual(
    names.filter((name) => name !== "team/t7").toSorted(),
  );
  const { entries: events } = await target.events({}, { limit: 2_000 });
  expect(events).toHaveLength(1_201);
});

test("a damaged database is named when its resources are listed", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "ledger.db"), "no database", { mode: 0o600 });
  await using state = stateAt(folder, machine);
  await expect(state.recorded()).rejects.toThrow(`${folder}/ledger.db: it is damaged, or not a database`);
});
