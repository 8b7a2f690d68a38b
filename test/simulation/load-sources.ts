import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folders = [
  "client",
  "core",
  "daemon",
  "engine",
  "http",
  "kinds",
  "manifests",
  "seal",
  "server",
  "state",
  "store",
];

/** Loads the modules that a process imports at their first use, since reading them would take real time in the middle of a step. */
export async function loadSources(): Promise<void> {
  const source = join(import.meta.dirname, "../../src");
  const files = folders.flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
      .map((name) => join(source, folder, name)),
  );
  for (const file of files.toSorted()) await import(pathToFileURL(file).href);
}
