import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Where a repository has the files of a pipeline. */
const places: { readonly [service: string]: readonly [from: string, to: string] } = {
  github: ["github/workflows/*.yml", ".github/workflows"],
  gitlab: ["gitlab/templates/holdfast.yml", ".gitlab"],
  shell: ["shell/holdfast-ci", "ci"],
};

/** The pipelines of `deploy/ci` as `init` writes them, by service and path. */
export function pipelinesText(root: string): string {
  const folder = join(root, "deploy/ci");
  const found = Object.entries(places).map(([service, [from, to]]) => {
    const files = globSync(from, { cwd: folder }).toSorted();
    return [
      service,
      Object.fromEntries(files.map((file) => [`${to}/${basename(file)}`, readFileSync(join(folder, file), "utf8")])),
    ];
  });
  return `${JSON.stringify(Object.fromEntries(found), null, 2)}\n`;
}
