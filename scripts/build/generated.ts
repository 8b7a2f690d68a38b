import { cpSync } from "node:fs";
import { join } from "node:path";

const generated = join(import.meta.dirname, "..", "..", "src", "schema", "generated");

/** Copies validators and schemas beside a bundle: they are loaded one by one, so they stay files of their own. */
export function copyGenerated(outdir: string): void {
  for (const folder of ["validators", "schemas"]) {
    cpSync(join(generated, folder), join(outdir, "generated", folder), { recursive: true });
  }
}
