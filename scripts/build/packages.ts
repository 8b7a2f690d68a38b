import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A package that the program contains. */
export type BundledPackage = {
  /** Its name and version, such as `pino@10.4.0`. */
  readonly id: string;
  /** What its authors want to be shown with every copy. */
  readonly licence: string;
};

/** The compiled validators contain functions of it. */
const COMPILED_IN = ["node_modules/ajv/", "node_modules/ajv-formats/"];

/** The packages that files of a bundle are from, by name. */
export function packagesOf(files: Iterable<string>): readonly BundledPackage[] {
  const folders = [...files, ...COMPILED_IN].flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? [],
  );
  const packages = new Map([...new Set(folders)].map(readPackage).map((found) => [found.id, found]));
  return [...packages.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = globSync("{LICEN[CS]E,licen[cs]e,COPYING,NOTICE}*", { cwd: folder }).toSorted();
  const licence = texts.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
  return { id: `${name}@${version}`, licence: licence || `Licence: ${license}` };
}
