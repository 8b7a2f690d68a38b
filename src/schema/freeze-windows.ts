import { isObject, type JsonObject, text } from "../contract/json.ts";
import { durationMs } from "./duration.ts";
import { objectsOf } from "./rule.ts";
import { CRON_EXAMPLE, cronFields, scheduleFault } from "./schedule.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

const LONGEST_MS = 366 * 86_400_000;

/** What a schema cannot say of the freeze windows of a configuration's targets. */
export function freezeWindowFaults(config: unknown): readonly SchemaDiagnostic[] {
  const targets = isObject(config) ? objectsOf(config.targets) : [];
  return targets.flatMap(({ item: target, index: at }) =>
    objectsOf(target.windows).flatMap(({ item, index }) => windowFaults(item, `/targets/${at}/windows/${index}`)),
  );
}

function windowFaults(window: JsonObject, at: string): readonly SchemaDiagnostic[] {
  const crons = (["deny", "allow"] as const).filter((name) => text(window[name]) !== undefined);
  const [name, other] = crons;
  const faults: SchemaDiagnostic[] = [];
  if (name === undefined || other !== undefined) {
    const example = 'For example: `deny: "0 18 * * 5"`, from Friday at 18:00.';
    faults.push(error(at, "inconsistent", "a window has either `deny` or `allow`", example));
  }
  for (const each of crons) {
    const fault = cronFault(text(window[each]) ?? "");
    if (fault !== null) faults.push(error(`${at}/${each}`, "invalid-form", `\`${each}\` ${fault}`, CRON_EXAMPLE));
  }
  const duration = durationMs(text(window.duration) ?? "");
  if (duration <= 0 || duration > LONGEST_MS)
    faults.push(error(`${at}/duration`, "out-of-range", "`duration` must be longer than 0 and at most 366 days"));
  const timeZone = text(window.timeZone) ?? "";
  if (!isTimeZone(timeZone)) {
    const example = "Name one of the IANA database, such as `Europe/Berlin` or `UTC`.";
    faults.push(error(`${at}/timeZone`, "unknown-value", "`timeZone` is not a time zone", example));
  }
  return faults;
}

function cronFault(cron: string): string | null {
  if (cron.includes("TZ")) return "must not name a time zone; write it in `timeZone`";
  // An interval such as `@every 8h` has no beginning that would be the same in every process.
  if (cron.startsWith("@") && cronFields(cron) === null) return "must have five fields, or be `@daily` or `@weekly`";
  return scheduleFault(cron);
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
