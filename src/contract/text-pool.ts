/** Interns strings: returns the first equal string, so that repeated values in parsed data share their memory. */
export function textPool(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const first = known.get(text);
    if (first === undefined) known.set(text, text);
    return first ?? text;
  };
}
