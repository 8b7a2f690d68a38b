import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const pathOf = (page: string): string => join(import.meta.dirname, "../../docs", page);

/** The part of a page in `docs` that stands between two comments with its name. */
export function readPart(page: string, part: string): string {
  const text = readFileSync(pathOf(page), "utf8");
  return text.slice(...bordersOf(text, part));
}

/** Replaces that part. */
export function writePart(page: string, part: string, text: string): void {
  const old = readFileSync(pathOf(page), "utf8");
  const [from, to] = bordersOf(old, part);
  writeFileSync(pathOf(page), `${old.slice(0, from)}\n${text}\n\n${old.slice(to)}`);
}

function bordersOf(text: string, part: string): [from: number, to: number] {
  const [before, after] = [`<!-- ${part} -->\n`, `<!-- /${part} -->`];
  return [text.indexOf(before) + before.length, text.indexOf(after)];
}
