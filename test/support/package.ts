import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { bundle } from "../../scripts/build/bundle.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The command of the built package. */
    readonly holdfast: string;
    /** Where the processes of the tests keep compiled code: a third of what such a short process costs is compiling. */
    readonly compileCache: string;
    /** Where it is noted which commands and output formats have run as a process, whichever test file asked for them. */
    readonly commandsRun: string;
    /** The `serve` command as a module of the tests' own process. */
    readonly servingBundle: string;
  }
}

/** Builds the package beside the checkout, by the steps of the image: the bundle, without sources and dependencies. */
export async function setup(project: TestProject): Promise<() => void> {
  const root = resolve(import.meta.dirname, "../..");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  execFileSync("sh", ["deploy/image/assemble.sh", folder], { cwd: root, env, stdio: "inherit" });
  project.provide("holdfast", join(folder, "bin", "holdfast.js"));
  project.provide("compileCache", join(folder, "compiled"));
  const commandsRun = join(folder, "commands-run");
  mkdirSync(commandsRun);
  project.provide("commandsRun", commandsRun);
  await bundle({ serving: "test/support/serve-entry.ts" }, join(folder, "serving"));
  project.provide("servingBundle", join(folder, "serving", "serving.js"));
  return () => rmSync(folder, { recursive: true, force: true });
}
