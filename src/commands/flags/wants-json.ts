/** Whether a command line requests JSON on stdout. It may be invalid otherwise: the error is then written as JSON too. */
export function wantsJson(args: readonly string[], env: { readonly [name: string]: string | undefined }): boolean {
  const formats = valuesOf(args, ["-o", "--output"], /^(?:-o|--output=)(.+)$/);
  const requested = formats.length === 0 ? [env.HOLDFAST_OUTPUT ?? ""] : formats;
  const onStdout = requested.flatMap((text) => text.split(",")).filter((one) => !one.includes("=") && one !== "github");
  return onStdout.at(-1) === "json";
}

/** Whether a command line, valid or not, requests a JSON log. */
export function wantsJsonLog(args: readonly string[], env: { readonly [name: string]: string | undefined }): boolean {
  const formats = valuesOf(args, ["--log-format"], /^--log-format=(.+)$/);
  return (formats.at(-1) ?? env.HOLDFAST_LOG_FORMAT) === "json";
}

// The values of a flag, as a separate argument or joined to it.
function valuesOf(args: readonly string[], names: readonly string[], joined: RegExp): readonly string[] {
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  return flags.flatMap((arg, index) => {
    if (names.includes(arg)) return [args[index + 1] ?? ""];
    return joined.exec(arg)?.slice(1) ?? [];
  });
}
