const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The epoch milliseconds of an HTTP date. The grammar is checked, since `Date.parse` also accepts "-5" and the like. */
export function parseHttpDate(value: string | null): number | null {
  return value !== null && HTTP_DATE.test(value) ? Date.parse(value) : null;
}

/** The value of a header; null if it is missing or repeated, since repeated values may contradict each other. */
export function singleHeader(header: string | readonly string[] | undefined): string | null {
  return typeof header === "string" ? header.trim() : null;
}
