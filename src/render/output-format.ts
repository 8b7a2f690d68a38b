/** A form that a result is written in. */
export type OutputFormat = "text" | "json" | "markdown" | "github" | "gitlab" | "sarif";

/** A form of the result, and the file that it goes to; null for stdout. */
export type Output = { readonly format: OutputFormat; readonly file: string | null };

const TEXT: Output = { format: "text", file: null };

/** What a command writes: what is asked for, and text to stdout where nothing else goes there. */
export function allOutputs(asked: readonly Output[] | undefined): readonly Output[] {
  const outputs = asked ?? [];
  return outputs.some(({ file, format }) => file === null && format !== "github") ? outputs : [TEXT, ...outputs];
}

/** The form of what goes to stdout. */
export function stdoutFormat(asked: readonly Output[] | undefined): OutputFormat {
  const onStdout = allOutputs(asked).find(({ file, format }) => file === null && format !== "github");
  return (onStdout ?? TEXT).format;
}
