import type { Diagnostic } from "../../core/diagnostic.ts";
import { runWarning } from "../../core/run-warning.ts";
import { closestName } from "../../schema/closest-name.ts";
import { flags } from "./flags.ts";

type Environment = { readonly [name: string]: string | undefined };

const PREFIX = "HOLDFAST_";

/** Variables without a corresponding flag. */
const DOCUMENTED = [
  "HOLDFAST_TOKEN",
  "HOLDFAST_STATE_KEY",
  "HOLDFAST_STATE_KEY_FILE",
  "HOLDFAST_EXPORT_KEY",
  "HOLDFAST_ADMIN_TOKEN",
  "HOLDFAST_SERVER_KEY",
  "HOLDFAST_SERVER_KEY_FILE",
  "HOLDFAST_UI_TOKEN",
  "HOLDFAST_UI_TOKEN_FILE",
  "HOLDFAST_CACHE",
  "HOLDFAST_FORGE_TOKEN",
  "HOLDFAST_URL",
];

/** Prefixes of the variables for the tokens of sources and targets. */
const FAMILIES = ["HOLDFAST_SOURCE_TOKEN_", "HOLDFAST_PUBLISH_TOKEN_"];

// Kubernetes sets variables for the services of the pod's namespace, for example for a service named holdfast.
const OF_SERVICES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Whether a variable was set by Kubernetes for a service. */
export function isOfService(name: string, value: string): boolean {
  return OF_SERVICES.test(name) || (name.endsWith("_PORT") && SERVICE_ADDRESS.test(value));
}

/** A warning for each `HOLDFAST_` variable that is not known. */
export function unknownVariables(env: Environment): readonly Diagnostic[] {
  const known = new Set([...Object.values(flags).map(({ option }) => variableOf(option().name())), ...DOCUMENTED]);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (!name.startsWith(PREFIX) || known.has(name) || isOfService(name, value)) return [];
    if (FAMILIES.some((family) => name.startsWith(family))) return [];
    const names = [...known].map((each) => each.slice(PREFIX.length));
    const near = closestName(name.slice(PREFIX.length), names);
    const hint = near === undefined ? "" : `; did you mean ${PREFIX}${near}?`;
    return [runWarning("unknown-variable", `${name} in the environment means nothing here${hint}`)];
  });
}

/** The environment variable of a flag. */
export function variableOf(flag: string): string {
  return PREFIX + flag.replaceAll("-", "_").toUpperCase();
}
