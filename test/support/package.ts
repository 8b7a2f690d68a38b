import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** The command of the built package. */
    readonly holdfast: string;
  }
}

/** Builds the package beside the checkout, as npm would install it: the bundle, without sources and dependencies. */
export function setup(project: TestProject): () => void {
  const root = resolve(import.meta.dirname, "../..");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  execFileSync(process.execPath, ["scripts/build.ts", join(folder, "dist")], { cwd: root, stdio: "inherit" });
  cpSync(join(root, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  project.provide("holdfast", join(folder, "bin", "holdfast.js"));
  return () => rmSync(folder, { recursive: true, force: true });
}
