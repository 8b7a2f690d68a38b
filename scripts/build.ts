import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "./build/bundle.ts";
import { dashboardPage, referenceAssets } from "./build/dashboard-page.ts";
import { packagesOf } from "./build/packages.ts";

/** Where the bundle goes: `dist`, or the folder that is named. */
const outdir = process.argv[2] ?? "dist";
rmSync(outdir, { recursive: true, force: true });
const sources = [...(await dashboardPage(".")).sources, ...(await referenceAssets(".")).sources];
const packages = packagesOf([...(await bundle({ holdfast: "src/cli.ts" }, outdir)), ...sources]);
const licences = packages.map(({ id, licence }) => `${id}\n\n${licence}\n`);
writeFileSync(join(outdir, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
// For the bill of materials of a release.
writeFileSync(join(outdir, "packages.json"), `${JSON.stringify(packages.map(({ id }) => id))}\n`);
// By which the machines of a fleet know that they run the same build.
const digest = createHash("sha256");
for (const name of readdirSync(outdir, { recursive: true, encoding: "utf8" }).toSorted()) {
  const path = join(outdir, name);
  if (statSync(path).isFile()) digest.update(`${name}\0`).update(readFileSync(path));
}
writeFileSync(join(outdir, "digest"), digest.digest("base64url"));
