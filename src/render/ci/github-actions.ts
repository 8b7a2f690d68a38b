/** A remark at a place of a file, as GitHub shows it beside the line. */
export type Annotation = {
  readonly level: "error" | "warning";
  readonly title: string;
  readonly message: string;
  /** Path from the top of the checkout; null where it is of no file. */
  readonly file: string | null;
  readonly line: number | null;
};

/** The line that makes a runner of GitHub Actions show the remark. */
export function annotationLine({ level, title, message, file, line }: Annotation): string {
  const properties = [
    ...(file === null ? [] : [`file=${property(file)}`, `line=${line ?? 1}`]),
    `title=${property(title)}`,
  ];
  return `::${level} ${properties.join(",")}::${escapeData(message)}\n`;
}

/** Outputs of a step as `GITHUB_OUTPUT` takes them; the delimiter is random, so that no value can end itself. */
export function stepOutputs(values: readonly (readonly [name: string, value: string])[], delimiter: string): string {
  return values.map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`).join("");
}

function property(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
