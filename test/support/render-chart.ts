import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { KubernetesObject } from "./kustomization.ts";

/** Values as `helm --values` takes them. */
export type Values = { readonly [name: string]: unknown };

const ACTION = /\{\{(?<trim>-?) (?<action>.+?) \}\}/g;

/** The objects of a chart whose templates use only `.Values`, `toYaml` with `nindent`, and `if`; throws at anything else. */
export function renderChart(chart: string, values: Values): readonly KubernetesObject[] {
  const defaults: Values = parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  const all = merged(defaults, values);
  const texts = globSync("templates/**/*.yaml", { cwd: chart }).map((file) => readFileSync(join(chart, file), "utf8"));
  return texts.flatMap((text) => objectsIn(render(text, all)));
}

/** The objects in a stream of YAML documents, some of which may be empty. */
export function objectsIn(text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text, { logLevel: "error" }).flatMap((document) => document.toJS() ?? []);
}

function merged(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over;
  return { ...base, ...Object.fromEntries(Object.entries(over).map(([name, one]) => [name, merged(base[name], one)])) };
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Renders one template as Go's text/template does. */
function render(text: string, values: unknown): string {
  // Whether each `if` around the text shows it.
  const shown: boolean[] = [];
  let rendered = "";
  let end = 0;
  const add = (more: string) => {
    if (shown.every(Boolean)) rendered += more;
  };
  for (const { index, 0: whole, groups = {} } of text.matchAll(ACTION)) {
    const before = text.slice(end, index);
    add(groups.trim === "-" ? before.trimEnd() : before);
    end = index + whole.length;
    const [, condition] = /^if (\.Values\.\S+)$/.exec(groups.action ?? "") ?? [];
    if (condition !== undefined) shown.push(isTrue(valueAt(condition, values)));
    else if (groups.action === "else") shown.push(!shown.pop());
    else if (groups.action === "end") shown.pop();
    else add(written(groups.action ?? "", values));
  }
  add(text.slice(end));
  if (shown.length > 0 || text.slice(end).includes("{{")) throw new Error(`a template does not end well: ${text}`);
  return rendered;
}

function written(action: string, values: unknown): string {
  const [, path, indent] = /^toYaml (\.Values\.\S+)(?: \| nindent (\d+))?$/.exec(action) ?? [];
  if (path === undefined) throw new Error(`a template uses ${action}`);
  const yaml = stringify(valueAt(path, values), { lineWidth: 0 }).trimEnd();
  return indent === undefined ? yaml : `\n${yaml.replaceAll(/^/gm, " ".repeat(Number(indent)))}`;
}

function valueAt(path: string, values: unknown): unknown {
  const steps = path.replace(/^\.Values\./, "").split(".");
  return steps.reduce<unknown>((inner, step) => {
    if (isMap(inner) && step in inner) return inner[step];
    throw new Error(`no value ${path}`);
  }, values);
}

// Go's templates count an empty list and map as false.
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isMap(value) ? Object.keys(value).length > 0 : Boolean(value);
}
