import { type Command, InvalidArgumentError, type Option } from "commander";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { closestName } from "../../schema/closest-name.ts";
import { listedTexts } from "./flag.ts";
import { flags } from "./flags.ts";

const PREFIX = "HOLDFAST_";

/** Variables without a corresponding flag. */
const DOCUMENTED = [
  "HOLDFAST_TOKEN",
  "HOLDFAST_STATE_FILE",
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
  "HOLDFAST_PLANS_TOKEN",
  "HOLDFAST_MCP_TOKEN",
  "HOLDFAST_AGE_KEY",
  "HOLDFAST_AGE_KEY_FILE",
  "HOLDFAST_URL",
];

/** Prefixes of the variables for the tokens of sources and targets. */
const FAMILIES = ["HOLDFAST_SOURCE_TOKEN_", "HOLDFAST_PUBLISH_TOKEN_"];

// Kubernetes sets variables for the services of the pod's namespace, for example for a service named holdfast.
const OF_SERVICES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

// `--server` on the command line overrides HOLDFAST_EMBEDDED, and `--embedded` overrides HOLDFAST_SERVER.
const rivals: { readonly [attribute: string]: string } = { server: "embedded", embedded: "server" };

/** Whether a variable was set by Kubernetes for a service. */
function isOfService(name: string, value: string): boolean {
  return OF_SERVICES.test(name) || (name.endsWith("_PORT") && SERVICE_ADDRESS.test(value));
}

/** A warning for each `HOLDFAST_` variable that is not known. */
export function unknownVariables(env: { readonly [name: string]: string | undefined }): readonly Diagnostic[] {
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
function variableOf(flag: string): string {
  return PREFIX + flag.replaceAll("-", "_").toUpperCase();
}

/** Fills in flags missing on the command line from `HOLDFAST_<FLAG>` in the environment; an empty variable counts as unset. */
export function readEnvironment(command: Command, env: { readonly [name: string]: string | undefined }): void {
  for (const option of command.options) {
    const attribute = option.attributeName();
    const sources = [attribute, rivals[attribute] ?? attribute].map((name) => command.getOptionValueSource(name));
    if (sources.includes("cli")) continue;
    const name = variableOf(option.name());
    const text = env[name];
    if (text === undefined || text === "" || isOfService(name, text)) continue;
    command.setOptionValueWithSource(attribute, valueFrom(option, text, name), "env");
  }
}

// The errors of commander name the flag; this one names the environment variable.
function wrong(name: string, why: string): HoldfastError {
  return new HoldfastError("invalid", `${name} in the environment is wrong: ${why}`, {
    hint: "correct it, unset it, or overrule it with the flag",
  });
}

function valueFrom(option: Option, text: string, name: string): unknown {
  if (option.isBoolean() || option.negate) {
    // `HOLDFAST_NO_WAIT=true` turns waiting off.
    if (/^(?:1|true|yes|on)$/i.test(text)) return !option.negate;
    if (/^(?:0|false|no|off)$/i.test(text)) return option.negate;
    throw wrong(name, "it must be true or false");
  }
  const texts = option.variadic ? listedTexts(text) : [text];
  const { parseArg } = option;
  if (parseArg === undefined) return option.variadic ? texts : text;
  try {
    return texts.reduce<unknown>((before, part) => parseArg.call(option, part, before), undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw wrong(name, error.message);
  }
}
