/** A remark at a position in a file, which GitHub shows next to the line. */
export type Annotation = {
  readonly level: "error" | "warning";
  readonly title: string;
  readonly message: string;
  /** Path from the root of the checkout; null when it has no file. */
  readonly file: string | null;
  readonly line: number | null;
};

/** The workflow command that makes a GitHub Actions runner show the remark. */
export function annotationLine({ level, title, message, file, line }: Annotation): string {
  const properties = [
    ...(file === null ? [] : [`file=${property(file)}`, `line=${line ?? 1}`]),
    `title=${property(title)}`,
  ];
  return `::${level} ${properties.join(",")}::${escapeData(message)}\n`;
}

/** Step outputs in the format of `GITHUB_OUTPUT`; the delimiter is random, so that a value cannot contain it. */
export function stepOutputs(values: readonly (readonly [name: string, value: string])[], delimiter: string): string {
  return values.map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`).join("");
}

function property(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
