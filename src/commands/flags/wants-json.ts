/** Whether a command line asks for JSON on stdout, as far as it can be read: what is wrong with the rest of it is told in JSON too. */
export function wantsJson(args: readonly string[], env: { readonly [name: string]: string | undefined }): boolean {
  const formats = valuesOf(args, ["-o", "--output"], /^(?:-o|--output=)(.+)$/);
  const asked = formats.length === 0 ? [env.HOLDFAST_OUTPUT ?? ""] : formats;
  const onStdout = asked.flatMap((text) => text.split(",")).filter((one) => !one.includes("=") && one !== "github");
  return onStdout.at(-1) === "json";
}

/** Whether a command line asks for a log of JSON, as far as it can be read. */
export function wantsJsonLog(args: readonly string[], env: { readonly [name: string]: string | undefined }): boolean {
  const formats = valuesOf(args, ["--log-format"], /^--log-format=(.+)$/);
  return (formats.at(-1) ?? env.HOLDFAST_LOG_FORMAT) === "json";
}

// What a flag is given, as an argument of its own or in the same one.
function valuesOf(args: readonly string[], names: readonly string[], joined: RegExp): readonly string[] {
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  return flags.flatMap((arg, index) => {
    if (names.includes(arg)) return [args[index + 1] ?? ""];
    return joined.exec(arg)?.slice(1) ?? [];
  });
}
