import { Option } from "commander";

/** A flag whose value, where it is given, has a type of its own. */
export type Flag<Value> = {
  /** Makes commander's option of it: one belongs to one command alone. */
  readonly option: () => Option;
  /** Carries the type of the value; never there. */
  readonly value?: Value;
};

/** The type of a flag's value. */
export type ValueOf<One> = One extends Flag<infer Value> ? Value : never;

type Reading<Value> = { readonly parse?: (text: string) => Value; readonly byDefault?: NoInfer<Value> };

/** A flag that is there or not. */
export function toggleFlag(spelling: string, description: string): Flag<boolean> {
  return flag(spelling, description, {});
}

/** A flag with one text. */
export function textFlag(spelling: string, description: string, reading: Reading<string> = {}): Flag<string> {
  return flag(spelling, description, reading);
}

/** A flag with several texts. */
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

function flag<Value>(spelling: string, description: string, { parse, byDefault }: Reading<Value>): Flag<Value> {
  return {
    option: () => {
      const option = new Option(spelling, description).default(byDefault);
      return parse === undefined ? option : option.argParser(parse);
    },
  };
}
