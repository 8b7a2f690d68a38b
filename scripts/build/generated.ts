import { cpSync } from "node:fs";
import { basename, join } from "node:path";

const src = join(import.meta.dirname, "..", "..", "src");

/** Copies validators, schemas, the reference and the dashboard beside a bundle: they are loaded one by one, so they stay files. */
export function copyGenerated(outdir: string): void {
  const folders = ["schema/generated/validators", "schema/generated/schemas", "server/generated/reference"];
  for (const folder of [...folders, "daemon/api/generated/dashboard"]) {
    cpSync(join(src, folder), join(outdir, "generated", basename(folder)), { recursive: true });
  }
}
