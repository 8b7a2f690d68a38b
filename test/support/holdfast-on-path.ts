import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { temporaryFolder } from "./folder.ts";

/** A folder for the path of a shell: its `holdfast` is the built one, which finds what earlier processes of the tests have compiled. */
export async function holdfastOnPath(): Promise<string> {
  const bin = await temporaryFolder();
  const script = `export NODE_COMPILE_CACHE="${inject("compileCache")}"\nexec "${process.execPath}" "${inject("holdfast")}" "$@"`;
  await writeFile(join(bin, "holdfast"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return bin;
}
