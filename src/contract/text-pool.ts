/** Answers a text with the equal one that came first: of what is read, each repetition would be held on its own. */
export function textPool(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const first = known.get(text);
    if (first === undefined) known.set(text, text);
    return first ?? text;
  };
}
