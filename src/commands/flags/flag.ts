import { InvalidArgumentError, Option } from "commander";
import type { Output, OutputFormat } from "../../render/output-format.ts";

/** A flag with a typed value. */
export type Flag<Value> = {
  /** Creates commander's option; each command needs its own. */
  readonly option: () => Option;
  /** Carries only the type of the value; never set. */
  readonly value?: Value;
};

type Reading<Value> = { readonly parse?: (text: string) => Value; readonly byDefault?: NoInfer<Value> };

/** A boolean flag. */
export function toggleFlag(spelling: string, description: string): Flag<boolean> {
  return flag(spelling, description, {});
}

/** A flag with one string. */
export function textFlag(spelling: string, description: string, reading: Reading<string> = {}): Flag<string> {
  return flag(spelling, description, reading);
}

/**
 * A flag with a list: it is given several times, or with commas between. It takes no word beyond its value, which may be a
 * path that selects.
 */
export function listFlag(spelling: string, description: string): Flag<readonly string[]> {
  const option = (): Option =>
    new Option(spelling, `${description}; several with commas between, or each with the flag`).argParser(
      (text: string, before: readonly string[] = []) => [...before, ...listedTexts(text)],
    );
  return { option };
}

/** The texts of a list, as flags and variables have it. */
export function listedTexts(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}

/** A flag with several strings, each of which is checked: the words after it, up to the next flag, are its values. */
export function textsFlag(spelling: string, description: string): Flag<readonly string[]> {
  return flag(spelling, description, {});
}

/** A flag with a number. */
export function numberFlag(
  spelling: string,
  description: string,
  reading: Reading<number> & Required<Pick<Reading<number>, "parse">>,
): Flag<number> {
  return flag(spelling, description, reading);
}

/** A flag with one of several values. */
export function choiceFlag<const Value extends string>(
  spelling: string,
  description: string,
  { of, byDefault }: { readonly of: readonly Value[]; readonly byDefault?: NoInfer<Value> },
): Flag<Value> {
  return { option: () => new Option(spelling, description).choices(of).default(byDefault) };
}

/** A flag with some of several values. */
export function choicesFlag<const Value extends string>(
  spelling: string,
  description: string,
  { of }: { readonly of: readonly Value[] },
): Flag<readonly Value[]> {
  return { option: () => new Option(spelling, description).choices(of) };
}

/** The flag for the output formats: one format for stdout, and others for files, such as `json=plan.json`. */
export function outputFlag(formats: readonly OutputFormat[]): Flag<readonly Output[]> {
  const more = formats.length > 2 ? "; FORMAT=FILE writes it to a file. Can be given several times" : "";
  return {
    option: () => {
      return new Option("-o, --output <format>", `format of the result${more}`)
        .choices(formats)
        .default(undefined, "text")
        .argParser((text: string, before: readonly Output[] | undefined) => {
          return text.split(",").reduce((outputs, one) => addOutput(one, outputs, formats), before ?? []);
        });
    },
  };
}

function addOutput(text: string, before: readonly Output[], formats: readonly OutputFormat[]): readonly Output[] {
  const at = text.indexOf("=");
  const [name, file] = at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
  const format = formats.find((one) => one === name);
  if (format === undefined) throw new InvalidArgumentError(`Allowed choices are ${formats.join(", ")}.`);
  if (file !== null && (file === "" || format === "github" || formats.length <= 2)) {
    throw new InvalidArgumentError(file === "" ? "A file must follow the equals sign." : "It takes no file here.");
  }
  const isTaken = (one: Output): boolean =>
    one.file === file && (file !== null || (one.format !== "github" && format !== "github"));
  // Of several formats for stdout the last one counts, as with any flag with one value.
  return [...before.filter((one) => !isTaken(one) && !(one.format === format && one.file === file)), { format, file }];
}

function flag<Value>(spelling: string, description: string, { parse, byDefault }: Reading<Value>): Flag<Value> {
  return {
    option: () => {
      const option = new Option(spelling, description).default(byDefault);
      return parse === undefined ? option : option.argParser(parse);
    },
  };
}
