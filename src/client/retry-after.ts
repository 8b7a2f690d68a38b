import { parseHttpDate, singleHeader } from "./parse-header.ts";

const SECONDS = /^\d{1,10}$/;

/**
 * The wait in milliseconds that a reply requests, without an upper limit; null if it requests none in a valid form. A
 * date counts from the reply's own `Date`, since the two clocks may differ by hours.
 */
export function retryAfter(
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  { date }: { readonly date: number },
): number | null {
  const value = singleHeader(headers["retry-after"]);
  if (value === null) return null;
  if (SECONDS.test(value)) return Number(value) * 1000;
  const until = parseHttpDate(value);
  return until === null ? null : Math.max(0, until - (parseHttpDate(singleHeader(headers.date)) ?? date));
}
