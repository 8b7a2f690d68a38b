import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import type { Alert } from "../../scripts/generate/monitoring/alert.ts";
import { alertCases } from "../support/alert-cases.ts";
import { type Expectation, isFiring, promtoolFaults, whyNoPromtool } from "../support/firing-alerts.ts";

const rules = ["deploy/kubernetes/monitoring", "deploy/kubernetes/control-plane/monitoring"].flatMap(
  (folder) => parse(readFileSync(`${folder}/prometheus-rule.yaml`, "utf8")).spec.groups,
);
const alerts: readonly Alert[] = rules.flatMap((group) => group.rules);
const page = readFileSync("docs/operations.md", "utf8");

const expectations: readonly Expectation[] = alerts.flatMap((alert) => {
  const { after, fires, quiet } = alertCases[alert.alert] ?? { after: 0, fires: {}, quiet: {} };
  return [
    { alert, after, input: fires, fires: true },
    { alert, after, input: quiet, fires: false },
  ];
});

test("each alert has a case, and each case its alert", () => {
  expect(Object.keys(alertCases).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test("each alert fires when it should, and not when it should not, by the tests' own evaluation", () => {
  const told = expectations.map((one) => [one.alert.alert, one.fires, isFiring(one)]);
  expect(told).toEqual(expectations.map(({ alert, fires }) => [alert.alert, fires, fires]));
});

test("promtool finds no fault with the rules, and evaluates each alert to the same", (context) => {
  const why = whyNoPromtool();
  if (why !== null) context.skip(`${why}: the rules were evaluated by the tests alone`);
  expect(promtoolFaults({ groups: rules }, expectations)).toBe("");
});

test("the page on operations has every alert as it is deployed, and no other", () => {
  const rows = Array.from(page.matchAll(/^\| `(Holdfast\w+)` \|([^|]*)\| `((?:[^`|]|\\\|)+)` \| \S/gm));
  const documented = rows.map(([, alert, holds, expr = ""]) => [alert, holds?.trim(), expr.replaceAll("\\|", "|")]);
  expect(documented).toEqual(alerts.map((one) => [one.alert, one.for ?? "", one.expr]));
});

test("every metric of a rule and of the dashboard is one that the page on operations names", () => {
  const dashboard = readFileSync("deploy/kubernetes/monitoring/dashboard.json", "utf8");
  const texts = [...alerts.map(({ expr }) => expr), dashboard];
  const used = texts.flatMap((text) => text.match(/\b(?:holdfast|process|nodejs)_\w+/g) ?? []);
  const known = new Set(Array.from(page.matchAll(/`((?:holdfast|process|nodejs)_\w+)/g), ([, name = ""]) => name));
  expect([...new Set(used)].filter((name) => !known.has(name.replace(/_(?:bucket|count|sum)$/, "")))).toEqual([]);
});
