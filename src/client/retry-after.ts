import { parseHttpDate, singleHeader } from "./parse-header.ts";

const SECONDS = /^\d{1,10}$/;

type Header = string | readonly string[] | undefined;

/**
 * Milliseconds that a reply asks to wait, however long that is; null when it does not say so in a form that can be
 * trusted. A date counts from the reply's own `Date`, since the two clocks may differ by hours.
 */
export function retryAfter(
  headers: { readonly [name: string]: Header },
  { date }: { readonly date: number },
): number | null {
  const asked = singleHeader(headers["retry-after"]);
  if (asked === null) return null;
  if (SECONDS.test(asked)) return Number(asked) * 1000;
  const until = parseHttpDate(asked);
  return until === null ? null : Math.max(0, until - (parseHttpDate(singleHeader(headers.date)) ?? date));
}
