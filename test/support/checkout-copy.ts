import { execFile } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./folder.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");

/** A copy of the checkout's sources, for a test that adds files to it; removed after the test. */
export type CheckoutCopy = {
  readonly folder: string;
  /** Generates and bundles what the copy holds by now; answers what its `holdfast` prints in a folder. */
  readonly build: () => Promise<(cwd: string, ...args: readonly string[]) => Promise<string>>;
};

/** Copies the sources, and what they are generated from and checked by, into a folder of their own. */
export async function copyCheckout(): Promise<CheckoutCopy> {
  const folder = await temporaryFolder();
  for (const part of ["src", "schemas", "scripts", "docs", "package.json", "biome.json", ".gitignore"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    folder,
    build: async () => {
      for (const script of ["generate", "build"])
        await run(process.execPath, [`scripts/${script}.ts`], { cwd: folder });
      return async (cwd, ...args) =>
        (await run(process.execPath, [join(folder, "dist/holdfast.js"), ...args], { cwd })).stdout;
    },
  };
}
