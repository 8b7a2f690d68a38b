import { Cron } from "croner";
import { isObject, type JsonObject, text } from "../contract/json.ts";
import { objectsOf } from "./duplicate-items.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

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

const EXAMPLE = 'For example: `"0 3 * * *"`, every day at three.';

function scheduleFaults(object: JsonObject, names: readonly string[], at: string): readonly SchemaDiagnostic[] {
  return names.flatMap((name) => {
    const given = text(object[name]);
    const fault = given === undefined ? null : scheduleFault(given);
    return fault === null ? [] : [error(`${at}/${name}`, "invalid-form", `\`${name}\` ${fault}`, EXAMPLE)];
  });
}

// Kubernetes takes five fields, or one of these.
const MACRO = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const FIELDS = ["minute", "hour", "day of the month", "month", "day of the week"];

function scheduleFault(schedule: string): string | null {
  if (MACRO.test(schedule)) return null;
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `must have five fields (${FIELDS.join(", ")}); it has ${fields.length}`;
  const alone = (nth: number) => FIELDS.map((_, at) => (at === nth ? fields[at] : "*")).join(" ");
  const wrong = FIELDS.find((_, nth) => nextRun(alone(nth)) === "invalid");
  if (wrong !== undefined) return `has a ${wrong} that does not exist`;
  const next = nextRun(schedule);
  return next === null ? "is a day that never comes" : null;
}

function nextRun(schedule: string): Date | null | "invalid" {
  // Extensions of the library that other crons do not have.
  if (/[LW#+]/.test(schedule.replaceAll(/[a-z]{3}/gi, ""))) return "invalid";
  try {
    return new Cron(schedule, { paused: true }).nextRun(new Date(0));
  } catch {
    return "invalid";
  }
}
