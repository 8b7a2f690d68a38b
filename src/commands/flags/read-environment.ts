import { type Command, InvalidArgumentError, type Option } from "commander";
import { HoldfastError } from "../../core/errors.ts";
import { isOfService, variableOf } from "./unknown-variables.ts";

// `--server` on the command line overrides HOLDFAST_EMBEDDED, and `--embedded` overrides HOLDFAST_SERVER.
const rivals: { readonly [attribute: string]: string } = { server: "embedded", embedded: "server" };

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
  const texts = option.variadic ? text.split(/[\s,]+/).filter((part) => part !== "") : [text];
  const choices = option.argChoices;
  if (choices !== undefined && texts.some((part) => !choices.includes(part)))
    throw wrong(name, `it must be one of ${choices.join(", ")}`);
  if (option.variadic) return texts;
  try {
    return option.parseArg === undefined || choices !== undefined ? text : option.parseArg(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw wrong(name, error.message);
  }
}
