import { isObject, type JsonObject, text } from "../contract/json.ts";
import { objectsOf } from "./duplicate-items.ts";
import { scheduleFault } from "./schedule.ts";
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
