/** A path in C-style quotes, as git reads any path from its files and its standard input. */
export function quotedPath(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
