/** A pattern over identities or paths: `*` within one segment, `**` across segments, `?` one character. */
export type Glob = string;

/** Whether the whole text matches the glob; linear in the text for any pattern without repeated `**`. */
export function globMatches(glob: Glob, text: string): boolean {
  return compile(glob).test(text);
}

const compiled = new Map<Glob, RegExp>();

function compile(glob: Glob): RegExp {
  const known = compiled.get(glob);
  if (known) return known;
  const source = glob.replace(/\*\*\/?|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : `\\${part}`;
  });
  const pattern = new RegExp(`^${source}$`);
  compiled.set(glob, pattern);
  return pattern;
}
