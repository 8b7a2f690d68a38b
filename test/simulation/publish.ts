import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Replaces a part of the page about the simulation, between two comments with its name. */
export function publish(part: "results" | "safeguards", text: string): void {
  const page = join(import.meta.dirname, "../../docs/simulation.md");
  const [before, after] = [`<!-- ${part} -->\n`, `<!-- /${part} -->`];
  const old = readFileSync(page, "utf8");
  const [from, to] = [old.indexOf(before) + before.length, old.indexOf(after)];
  writeFileSync(page, `${old.slice(0, from)}\n${text}\n\n${old.slice(to)}`);
}
