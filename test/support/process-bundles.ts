import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundle } from "../../scripts/build/bundle.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Bundles of what the tests start as processes, which start in a third of the time; absent where few are started. */
    readonly processes: string | undefined;
  }
}

/** Bundles what the tests of a project start as processes. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-processes-"));
  await bundle({ holdfast: "src/cli.ts" }, join(folder, "cli"));
  copyFileSync("package.json", join(folder, "package.json"));
  await bundle({ "serve-child": "test/conformance/serve-child.ts" }, join(folder, "serve"));
  project.provide("processes", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
