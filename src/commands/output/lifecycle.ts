import type { JsonObject } from "../../contract/json.ts";
import type { Log } from "../../log/log.ts";
import { redactCredentials } from "../../model/credential.ts";
import type { Invocation } from "../command.ts";
import { flags as flagTable } from "../flags/flags.ts";
import { STOPPED, say, stoppedBy, type Terminal } from "../terminal.ts";

// Their values can have a password; what they lead to is logged by itself.
const isAddressOfDatabase = (name: string, value: unknown): boolean =>
  name === "database" || (name === "state" && String(value).includes("://"));

/** The flags that differ from their defaults, from the command line or the environment, without secrets. */
export function givenFlags({ flags }: Invocation): JsonObject {
  const given = Object.entries(flags).filter(
    ([name, value]) => !isAddressOfDatabase(name, value) && !isDefault(name, value),
  );
  return JSON.parse(redactCredentials(JSON.stringify(Object.fromEntries(given))));
}

function isDefault(name: string, value: unknown): boolean {
  const declared = Object.values(flagTable)
    .map((flag) => flag.option())
    .filter((option) => option.attributeName() === name);
  // A flag that turns something off has no default of its own.
  return value === undefined || declared.some(({ negate, defaultValue }) => value === (negate || defaultValue));
}

// As in every line of a command.
const NO_PLACE = { revision: null, identity: null };

/** Logs the request to stop when it comes. */
export function logStopRequest(terminal: Terminal, log: Log | null): void {
  terminal.stopping.addEventListener(
    "abort",
    () => {
      const reason = stoppedBy(terminal)?.message ?? null;
      log?.info({ event: "stopping", ...NO_PLACE, reason }, "stopping: what is in progress is finished");
    },
    { once: true },
  );
}

/** Says as the last line that the process was stopped. */
export function sayStopped(terminal: Terminal, log: Log | null): void {
  if (log === null) say(terminal, STOPPED);
  else log.info({ event: "stopped", ...NO_PLACE }, STOPPED);
}
