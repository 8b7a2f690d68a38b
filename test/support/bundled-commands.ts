import { createRequire } from "node:module";
import { inject } from "vitest";
import type { runHere, serveHere } from "./serve-entry.ts";

/** Commands that run in the process of the tests: loaded by Node itself, since Vite would transform the sources for each test file. */
export function bundled(): { readonly runHere: typeof runHere; readonly serveHere: typeof serveHere } {
  return createRequire(import.meta.url)(inject("servingBundle"));
}
