import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

type Component = { readonly "bom-ref": string; readonly name: string; readonly version: string };
type Bill = {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

/** What the program contains, as CycloneDX: of what npm lists of the checkout the packages that are bundled, and Node. */
export function billOfMaterials(): string {
  const args = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
  const all: Bill = JSON.parse(execFileSync("npm", args, { encoding: "utf8", maxBuffer: 2 ** 28 }));
  const bundled: readonly string[] = JSON.parse(readFileSync("dist/packages.json", "utf8"));
  const found = new Map(all.components.map((component) => [`${component.name}@${component.version}`, component]));
  const components = bundled.map((id) => {
    const component = found.get(id);
    if (component === undefined) throw new Error(`npm sbom does not list ${id}, which is bundled`);
    // npm takes it for a package of development: nothing of it is installed with the program, since it is in it.
    return { ...component, scope: "required", properties: [] };
  });
  const { name } = JSON.parse(readFileSync("package.json", "utf8"));
  const component = { ...all.metadata.component, name, type: "application" };
  const refs = new Set([component, ...components].map((one) => one["bom-ref"]));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
  const metadata = { ...all.metadata, component };
  return `${JSON.stringify({ ...all, metadata, components: [...components, node()], dependencies }, null, 2)}\n`;
}

/** Of Node only the executables have a copy. */
function node(): Component & { readonly [key: string]: unknown } {
  const version = process.versions.node;
  const ref = `node@${version}`;
  return { "bom-ref": ref, type: "platform", name: "node", version, scope: "optional", purl: `pkg:generic/${ref}` };
}
