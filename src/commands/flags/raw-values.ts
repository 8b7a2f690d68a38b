/** The environment of a process. */
export type RawEnvironment = { readonly [name: string]: string | undefined };

/** The values of a flag in a command line that may be invalid, else the one of its environment variable, in order. */
export function rawValues(
  args: readonly string[],
  env: RawEnvironment,
  { flags, variable }: { readonly flags: readonly string[]; readonly variable: string },
): readonly string[] {
  const end = args.indexOf("--");
  const words = end === -1 ? args : args.slice(0, end);
  const values = words.flatMap((word, index) => flags.flatMap((flag) => valueAt(flag, word, words[index + 1]) ?? []));
  const byDefault = env[variable];
  return values.length > 0 || !byDefault ? values : [byDefault];
}

// The value is the next word, or joined to the flag: `--output=json`, `-ojson`.
function valueAt(flag: string, word: string, next = ""): string | null {
  if (word === flag) return next;
  const joined = flag.startsWith("--") ? `${flag}=` : flag;
  return word.startsWith(joined) && word.length > joined.length ? word.slice(joined.length) : null;
}

/** The values of `--output`. */
export function rawOutputs(args: readonly string[], env: RawEnvironment): readonly string[] {
  return rawValues(args, env, { flags: ["-o", "--output"], variable: "HOLDFAST_OUTPUT" });
}
