/** The kinds that a file names in its code: as a whole text, or as the beginning of an identity or subject. */
export function kindsNamedIn(code: string, kinds: readonly string[]): readonly string[] {
  const texts = withoutTypes(withoutComments(code))
    .replaceAll("application/json", "")
    .matchAll(/(["'`])([\w-]+)(?:[:/][^"'`]*)?\1/g);
  return Array.from(texts, ([, , text = ""]) => text).filter((text) => kinds.includes(text));
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

// Names of members, which kinds may be called too.
function withoutTypes(code: string): string {
  return code.replaceAll(/\b(?:Pick|Omit)<[^>]*>/g, "");
}
