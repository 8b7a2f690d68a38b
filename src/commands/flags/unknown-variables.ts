import { closestName } from "../../schema/closest-name.ts";
import { flags } from "./flags.ts";

type Environment = { readonly [name: string]: string | undefined };

const PREFIX = "HOLDFAST_";

/** Variables that no flag corresponds to. */
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

/** Begin the names of the tokens that belong to an operator's sources and targets. */
const FAMILIES = ["HOLDFAST_SOURCE_TOKEN_", "HOLDFAST_PUBLISH_TOKEN_"];

// Kubernetes gives each pod variables of the services beside it, such as one that is called holdfast.
const OF_SERVICES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Whether Kubernetes set a variable, for a service and not for us. */
export function isOfService(name: string, value: string): boolean {
  return OF_SERVICES.test(name) || (name.endsWith("_PORT") && SERVICE_ADDRESS.test(value));
}

/** A warning for each variable that looks like one of ours and is none. */
export function unknownVariables(env: Environment): readonly string[] {
  const known = new Set([...Object.values(flags).map(({ option }) => variableOf(option().name())), ...DOCUMENTED]);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (!name.startsWith(PREFIX) || known.has(name) || isOfService(name, value)) return [];
    if (FAMILIES.some((family) => name.startsWith(family))) return [];
    const names = [...known].map((each) => each.slice(PREFIX.length));
    const near = closestName(name.slice(PREFIX.length), names);
    const hint = near === undefined ? "" : `; did you mean ${PREFIX}${near}?`;
    return [`${name} in the environment means nothing here${hint}`];
  });
}

/** The variable that says the same as a flag. */
export function variableOf(flag: string): string {
  return PREFIX + flag.replaceAll("-", "_").toUpperCase();
}
