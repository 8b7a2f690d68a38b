import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "./build/bundle.ts";
import { packagesOf } from "./build/packages.ts";

/** Where the bundle goes: `dist`, or the folder that is named. */
const outdir = process.argv[2] ?? "dist";
rmSync(outdir, { recursive: true, force: true });
const packages = packagesOf(await bundle({ holdfast: "src/cli.ts" }, outdir));
const licences = packages.map(({ id, licence }) => `${id}\n\n${licence}\n`);
writeFileSync(join(outdir, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
// For the bill of materials of a release.
writeFileSync(join(outdir, "packages.json"), `${JSON.stringify(packages.map(({ id }) => id))}\n`);
