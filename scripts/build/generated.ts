import { cpSync } from "node:fs";
import { basename, join } from "node:path";

const src = join(import.meta.dirname, "..", "..", "src");

/** Copies validators, schemas and the reference beside a bundle: they are loaded one by one, so they stay files. */
export function copyGenerated(outdir: string): void {
  for (const folder of ["schema/generated/validators", "schema/generated/schemas", "server/generated/reference"]) {
    cpSync(join(src, folder), join(outdir, "generated", basename(folder)), { recursive: true });
  }
}
