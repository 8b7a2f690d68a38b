import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Vite } from "vitest/node";
import { bundle } from "../../scripts/build/bundle.ts";

const FROM_SOURCES = /new URL\(`\.\/worker\$\{extname\(import\.meta\.url\)\}`, import\.meta\.url\)/;

// The same in each run: Vitest keeps transformed modules for the next one.
const FOLDER = resolve(import.meta.dirname, "../../node_modules/.cache/holdfast-yaml-reader");
const BUNDLE = join(FOLDER, "worker.js");

let made: Promise<void> | null = null;

/**
 * Has the sources start their process that reads YAML from a bundle, as the built package does: it starts in a fifth of
 * the time, and hundreds of tests need one.
 */
export function bundledYamlReader(): Vite.Plugin {
  return {
    name: "bundled-yaml-reader",
    enforce: "pre",
    configResolved: () => {
      made ??= makeBundle();
      return made;
    },
    transform: {
      filter: { id: /\/src\/yaml\/exact\/exact-process\.ts$/ },
      handler: (code) => {
        if (!FROM_SOURCES.test(code)) throw new Error(`exact-process.ts does not start its worker by ${FROM_SOURCES}`);
        return code.replace(FROM_SOURCES, `new URL("${pathToFileURL(BUNDLE)}")`);
      },
    },
  };
}

// Renamed into place, since another run may start the earlier one.
async function makeBundle(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, "new-"));
  await bundle({ worker: "src/yaml/exact/worker.ts" }, folder);
  renameSync(join(folder, "worker.js"), BUNDLE);
  rmSync(folder, { recursive: true });
}
