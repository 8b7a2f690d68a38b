import { expect, test } from "vitest";
import type { AddonHelmManifest } from "../../../src/contract/generated/resources.ts";
import { type AddonEntry, catalogue } from "../../../src/server/resources/addon/catalogue.ts";
import { isInstallationOf, proposedManifest, readHelm } from "../../../src/server/resources/addon/helm-manifest.ts";
import { addonDifferences, isOlder, previewUpgrade } from "../../../src/server/resources/addon/preview-upgrade.ts";

const older = { version: "1.0.0", values: { a: 1, b: { c: 1, d: [1] }, gone: true } };
const newer = { version: "1.1.0", values: { a: 2, b: { c: 1, d: [1, 2] }, fresh: {} } };
const entry: AddonEntry = {
  name: "X",
  appName: "x",
  namespace: "x",
  description: "",
  repoUrl: "https://charts.example.com",
  chart: "x",
  required: false,
  unsupportedClusterTypes: [],
  knownCRDs: [],
  labels: [],
  releases: [newer, older],
};

const at = (version: string, values: AddonHelmManifest["values"]): AddonHelmManifest => ({
  ...proposedManifest(entry, { version, values }),
  workspace_fqn: "c1x:x",
});

test("differences are listed by key, in objects recursively, and lists as a whole", () => {
  expect(addonDifferences(older.values, newer.values)).toEqual([
    { type: "CHANGE", key: "a", value: 2, oldValue: 1, changes: [] },
    {
      type: "CHANGE",
      key: "b",
      value: newer.values.b,
      oldValue: older.values.b,
      changes: [{ type: "CHANGE", key: "d", value: [1, 2], oldValue: [1], changes: [] }],
    },
    { type: "ADD", key: "fresh", value: {}, changes: [] },
    { type: "REMOVE", key: "gone", oldValue: true, changes: [] },
  ]);
  expect(addonDifferences({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toEqual([]);
  expect(addonDifferences({ toString: 1 }, {})).toMatchObject([{ type: "REMOVE", key: "toString" }]);
  expect(addonDifferences({}, { constructor: null })).toEqual([
    { type: "ADD", key: "constructor", value: null, changes: [] },
  ]);
});

test("an addon as it was proposed is upgraded to what is proposed now", () => {
  const upgrades = previewUpgrade(entry, at("1.0.0", older.values));
  expect(upgrades).toMatchObject({ upgradePossible: true, hasConflict: false, conflictFields: [] });
  expect(upgrades.desiredManifest).toEqual(at("1.1.0", newer.values));
  expect(upgrades.diff.map(({ key }) => key)).toEqual(["source", "values"]);
});

test("what the operator changed stays; where the release changed it too, the release wins and says so", () => {
  const current = at("1.0.0", { a: 5, b: { c: 9, d: [1], own: { "a/b": 1 } }, gone: true, extra: "x" });
  const { desiredManifest, conflictFields, hasConflict } = previewUpgrade(entry, current);
  expect(desiredManifest.values).toEqual({ a: 2, b: { c: 9, d: [1, 2], own: { "a/b": 1 } }, fresh: {}, extra: "x" });
  expect([conflictFields, hasConflict]).toEqual([["/values/a"], true]);
  const removed = previewUpgrade(entry, at("1.0.0", { b: older.values.b, gone: false }));
  expect(removed.conflictFields).toEqual(["/a", "/gone"].map((path) => `/values${path}`));
});

test("of a version that is not known, everything is the operator's own", () => {
  const current = at("0.9.0", { a: 7 });
  const { desiredManifest, conflictFields, upgradePossible } = previewUpgrade(entry, current);
  expect(desiredManifest).toEqual(at("1.1.0", { a: 7 }));
  expect([conflictFields, upgradePossible]).toEqual([[], true]);
});

test("what is newest or newer is left alone, and what is not installed has no current manifest", () => {
  for (const version of ["1.1.0", "1.1.1", "2.0"]) {
    const current = at(version, { a: 7 });
    expect(previewUpgrade(entry, current)).toEqual({
      diff: [],
      currentManifest: current,
      desiredManifest: current,
      upgradePossible: false,
      conflictFields: [],
      hasConflict: false,
    });
  }
  const { currentManifest, ...upgrade } = previewUpgrade(entry, undefined);
  expect(currentManifest).toBeUndefined();
  expect(upgrade).toMatchObject({ diff: [], upgradePossible: false });
});

test("versions are compared by their numbers", () => {
  expect(isOlder("1.9.0", "1.10.0")).toBe(true);
  expect(isOlder("v1.2", "1.2.1")).toBe(true);
  expect(isOlder("1.2.0", "1.2.0")).toBe(false);
  expect(isOlder("2", "1.9")).toBe(false);
  expect(isOlder("latest", "0.1")).toBe(true);
});

test("a release is an addon's by chart and repository, or by its name", () => {
  const helm = (more: object) => readHelm({ type: "helm", name: "other", ...more });
  const { chart, repoUrl } = entry;
  expect(isInstallationOf(helm({ source: { chart, repo_url: `${repoUrl}/` } }), entry)).toBe(true);
  expect(isInstallationOf(helm({ name: "x", source: { chart, repo_url: "oci://mirror" } }), entry)).toBe(true);
  expect(isInstallationOf(helm({ source: { chart, repo_url: "oci://mirror" } }), entry)).toBe(false);
  expect(isInstallationOf(helm({ name: "x", source: "x" }), entry)).toBe(false);
});

test("the catalogue is in order, and offers something to upgrade to", () => {
  const names = catalogue.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].toSorted());
  for (const { releases } of catalogue) {
    for (const [at, { version }] of releases.slice(1).entries())
      expect(isOlder(version, releases[at]?.version ?? "")).toBe(true);
  }
});
