import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { billOfMaterials } from "./package/bill-of-materials.ts";
import { writeExecutable } from "./package/executable.ts";
import { withNodeFor } from "./package/node-binary.ts";

// `npm run package`: what a release consists of, in dist-package.
const folder = "dist-package";
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

// npm names the file after the package, whose name may change; it builds the program first.
execFileSync("npm", ["pack", "--pack-destination", folder], { stdio: ["ignore", "ignore", "inherit"] });
const [packed = ""] = readdirSync(folder);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
renameSync(join(folder, packed), join(folder, `holdfast-${version}.tgz`));

for (const architecture of ["x64", "arm64"]) {
  const output = join(folder, `holdfast-linux-${architecture}`);
  withNodeFor(architecture, (node) => writeExecutable(".", node, output));
}

// The executables contain Node too.
const licenceOfNode = readFileSync(join(process.execPath, "../../LICENSE"), "utf8");
const licences = `${readFileSync("dist/LICENSES.txt", "utf8")}\n${"-".repeat(80)}\n\nnode@${process.versions.node}\n\n${licenceOfNode}`;
writeFileSync(join(folder, "LICENSES.txt"), licences);
writeFileSync(join(folder, `holdfast-${version}.cdx.json`), billOfMaterials());

const files = readdirSync(folder).toSorted();
const sums = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`);
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
console.log(sums.join("").trimEnd());

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
