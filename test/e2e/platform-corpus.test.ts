import { expect, test } from "vitest";
import type { ImportReport } from "../../src/contract/generated/output.ts";
import { baseCount, corpusFiles, isUpload, makeSecrets, own, variantsByType } from "../conformance/platform-world.ts";
import { planOf, reportOf, validationOf } from "../support/json-output.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const all = [...variantsByType].flatMap(([type, variants]) => variants.map((one, index) => own(one, type, index)));

test("every field, variant and optional of the platform's field list is valid without a warning", async () => {
  expect(all.length).toBeGreaterThan(1000);
  const source = await sourceOf(corpusFiles(all));
  const ended = await source.runHere(["validate", "-o", "json"]);
  expect(validationOf(ended).diagnostics).toEqual([]);
  expect(ended.code).toBe(0);
  expect(validationOf(ended).summary).toMatchObject({ manifests: all.length + baseCount, errors: 0, warnings: 0 });
});

test("all that can be written is applied, and a second apply writes nothing", async () => {
  const server = await serve();
  const written = all.filter((one) => !isUpload(one));
  await makeSecrets(server, written);
  const source = await sourceOf(corpusFiles(written), server);
  const applied = await source.runHere(["apply", "--yes", "--sink", "file", "-o", "json"]);
  const bad = reportOf(applied).outcomes.filter(({ result }) => result !== "created");
  expect(bad).toEqual([]);
  expect(applied.code).toBe(0);
  const before = server.effects().length;
  const again = await source.runHere(["apply", "--yes", "--sink", "file", "-o", "json"]);
  expect(reportOf(again).summary).toMatchObject({ created: 0, updated: 0, failed: 0, blocked: 0 });
  expect(server.effects()).toHaveLength(before);

  // The same platform, imported where nothing is declared: a plan of the new files finds nothing to do.
  const other = await sourceOf({}, server);
  const imported = await other.runHere(["import", "--into", "live", "-o", "json"]);
  const { summary, resources, unread, undeclared }: ImportReport = JSON.parse(imported.stdout);
  const left = resources.filter(({ result }) => result !== "written").map(({ identity }) => identity);
  // Live does not show where their values are from.
  const groups = ["secret-group/platform", "secret-group/tokens"];
  expect([imported.code, left, unread, undeclared]).toEqual([0, groups, [], []]);
  const plan = planOf(await other.runHere(["plan", "-o", "json"]));
  expect(plan).toMatchObject({ steps: [], complete: true, summary: { keep: summary.written, unrecorded: 0 } });
  expect(planOf(await other.runHere(["plan", "--show", "unmanaged", "-o", "json"])).unmanaged).toMatchObject(
    groups.map((identity) => ({ identity })),
  );
  expect((await other.runHere(["import", "--into", "live"])).stdout).toContain("Import: nothing written");
  expect(server.effects()).toHaveLength(before);
});
