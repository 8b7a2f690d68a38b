/** One line of a dotenv file that sets a variable. */
export type DotenvEntry = { readonly name: string; readonly value: string };

/** The prefix of what SOPS adds to a dotenv file. */
export const METADATA_PREFIX = "sops_";

/** The variables of a dotenv file as SOPS reads it: quotes are part of the value. Null, with its number, for another line. */
export function parseDotenv(text: string): readonly DotenvEntry[] | { readonly line: number } {
  const entries: DotenvEntry[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const end = line.indexOf("=");
    if (end === -1) return { line: at + 1 };
    entries.push({ name: line.slice(0, end), value: line.slice(end + 1).replaceAll("\\n", "\n") });
  }
  return entries;
}

/** The metadata of a dotenv file, by the path of each field: `age__list_0__map_enc` is `age/0/enc`. */
export function dotenvMetadata(entries: readonly DotenvEntry[]): ReadonlyMap<string, string> {
  const ours = entries.filter(({ name }) => name.startsWith(METADATA_PREFIX));
  return new Map(
    ours.map(({ name, value }) => [
      name.slice(METADATA_PREFIX.length).replaceAll("__list_", "/").replaceAll("__map_", "/"),
      value,
    ]),
  );
}
