import { badRequest } from "./http-error.ts";

/** The decoded values of each query parameter. */
export type QueryText = ReadonlyMap<string, readonly string[]>;

/** Parses a query; refuses broken percent-encoding and NUL, which lenient parsers accept. */
export function parseQueryText(text: string): QueryText {
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const value = at === -1 ? "" : decode(pair.slice(at + 1));
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    if (!decoded.includes("\0")) return decoded;
  } catch {}
  throw badRequest("the query is not properly percent-encoded");
}
