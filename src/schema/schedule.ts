import { Cron } from "croner";
import { isObject, type JsonObject, text } from "../contract/json.ts";
import { objectsOf } from "./rule.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

type Field = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words?: readonly string[];
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const FIELDS: readonly Field[] = [
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of the month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12, words: MONTHS },
  { name: "day of the week", least: 0, most: 6, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];

const INTERVAL = /^@every (?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** An example of a schedule, for messages. */
export const CRON_EXAMPLE = 'For example: `"0 3 * * *"`, every day at three.';

/** What is wrong with a schedule, as a predicate; null when Kubernetes takes it: `robfig/cron` parses it there. */
export function scheduleFault(schedule: string): string | null {
  if (schedule.includes("TZ")) return "must not name a time zone; write it in `timezone`";
  if (schedule.startsWith("@")) return macroFault(schedule);
  const { length } = schedule.trim().split(/\s+/);
  if (length !== FIELDS.length)
    return `must have five fields (${FIELDS.map(({ name }) => name).join(", ")}); it has ${length}`;
  const fields = fieldsOf(schedule);
  const wrong = fields.find(({ values }) => values === null)?.field;
  if (wrong !== undefined) return `has a ${wrong.name} that does not exist${rangeOf(wrong)}`;
  const plain = fields.map(({ values }) => values).join(" ");
  return new Cron(plain, { paused: true }).nextRun(new Date(0)) === null ? "is a day that never comes" : null;
}

/** The five fields of a valid schedule as lists of numbers; null for an interval, which has none. */
export function cronFields(schedule: string): string | null {
  const plain = schedule.startsWith("@") ? MACROS[schedule] : schedule;
  if (plain === undefined) return null;
  return fieldsOf(plain)
    .map(({ values }) => values)
    .join(" ");
}

const MACROS: { readonly [macro in string]?: string } = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

function fieldsOf(schedule: string): readonly { readonly field: Field; readonly values: string | null }[] {
  const texts = schedule.trim().split(/\s+/);
  return FIELDS.map((field, at) => ({ field, values: valuesOf(texts[at] ?? "", field) }));
}

function macroFault(schedule: string): string | null {
  if (schedule in MACROS || INTERVAL.test(schedule)) return null;
  return "must have five fields, or be one of `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` and `@every 1h30m`";
}

function rangeOf({ least, most, words }: Field): string {
  const named = words === undefined ? "" : `, or ${words[0]} to ${words.at(-1)}`;
  return ` (${least} to ${most}${named})`;
}

// A field as a list of numbers, or `*` for all of them; null when it is invalid.
function valuesOf(text: string, field: Field): string | null {
  const parts = text.split(",").flatMap((part) => (part === "" ? [] : [partValues(part, field)]));
  if (parts.length === 0 || parts.includes(null)) return null;
  return parts.includes("*") ? "*" : parts.join(",");
}

function partValues(part: string, field: Field): string | null {
  const [, from = "", to, step = "1"] = /^([^-/]+)(?:-([^-/]*))?(?:\/\+?(\d+))?$/.exec(part) ?? [];
  const isAll = from === "*" || from === "?";
  const by = Number(step);
  if (isAll && by === 1) return "*";
  const first = isAll ? field.least : numberIn(field, from);
  // A step without an end goes on to the end of the field.
  const last = isAll || (to === undefined && part.includes("/")) ? field.most : numberIn(field, to ?? from);
  if (first === null || last === null || first > last || by === 0) return null;
  return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, at) => first + at * by).join(",");
}

function numberIn({ least, most, words = [] }: Field, text: string): number | null {
  const word = words.indexOf(text.toLowerCase());
  const number = word >= 0 ? word + least : /^\+?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : null;
}

/** The schedules of an application are such that a cron can run by them: of its trigger, and of its autoscaling. */
export function schedules({ trigger, replicas }: JsonObject): readonly SchemaDiagnostic[] {
  const metrics = isObject(replicas) ? replicas.metrics : undefined;
  if (metrics === undefined && trigger === undefined) return [];
  const crons = isObject(metrics) ? [{ item: metrics, at: "/replicas/metrics" }] : itemsOf(metrics ?? null);
  return [
    ...(isObject(trigger) ? scheduleFaults(trigger, ["schedule"], "/trigger") : []),
    ...crons.flatMap(({ item, at }) => (item.type === "cron" ? scheduleFaults(item, ["start", "end"], at) : [])),
  ];
}

function itemsOf(metrics: JsonObject[string]) {
  return objectsOf(metrics).map(({ item, index }) => ({ item, at: `/replicas/metrics/${index}` }));
}

function scheduleFaults(object: JsonObject, names: readonly string[], at: string): readonly SchemaDiagnostic[] {
  return names.flatMap((name) => {
    const given = text(object[name]);
    const fault = given === undefined ? null : scheduleFault(given);
    return fault === null ? [] : [error(`${at}/${name}`, "invalid-form", `\`${name}\` ${fault}`, CRON_EXAMPLE)];
  });
}
