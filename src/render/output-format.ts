/** A format of a result. */
export type OutputFormat = "text" | "json" | "markdown" | "github" | "gitlab" | "sarif" | "mermaid" | "dot";

/** A format of the result, and its file; null for stdout. */
export type Output = { readonly format: OutputFormat; readonly file: string | null };

const TEXT: Output = { format: "text", file: null };

/** The outputs of a command: the requested ones, and text on stdout if no other output goes there. */
export function allOutputs(requested: readonly Output[] | undefined): readonly Output[] {
  const outputs = requested ?? [];
  return outputs.some(({ file, format }) => file === null && format !== "github") ? outputs : [TEXT, ...outputs];
}

/** The format of the output on stdout. */
export function stdoutFormat(requested: readonly Output[] | undefined): OutputFormat {
  const onStdout = allOutputs(requested).find(({ file, format }) => file === null && format !== "github");
  return (onStdout ?? TEXT).format;
}
