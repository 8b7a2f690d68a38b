import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import { expect, type TestContext } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { temporaryFolder } from "./folder.ts";

/** A Kubernetes object as far as every object is alike; a test reads the rest as it expects it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
export type KubernetesObject = { readonly kind: string; readonly metadata: ObjectMeta; readonly [field: string]: any };

type Generator = {
  readonly name: string;
  readonly behavior?: string;
  readonly files?: readonly string[];
  readonly literals?: readonly string[];
};
type Kustomization = {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path?: string }[];
  readonly configMapGenerator?: readonly Generator[];
};

const deploy = join(import.meta.dirname, "../../deploy/kubernetes");

/** Ends a test that builds with kustomize, and says why, where it is not installed. */
export function needsKubectl({ skip }: Pick<TestContext, "skip">): void {
  skip(spawnSync("kubectl", ["version", "--client"]).status !== 0, "kubectl is not installed here");
}

/** The objects that kustomize builds of a folder. */
export function kustomize(folder: string): readonly KubernetesObject[] {
  const built = spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" });
  expect(built.stderr).toBe("");
  return parseAllDocuments(built.stdout).map((document) => document.toJS());
}

/** The objects in the files that a folder lists, and those of its ConfigMaps, without a change by kustomize. */
export function filesOf(folder: string): readonly KubernetesObject[] {
  const { resources = [], configMapGenerator = [] } = kustomizationIn(folder);
  const paths = resources.map((path) => join(folder, path));
  return [
    ...paths.flatMap((path) => (isFolder(path) ? filesOf(path) : [parse(readFileSync(path, "utf8"))])),
    ...configMapGenerator.map(({ name, files = [], literals = [] }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
      data: Object.fromEntries([
        ...files.map((file) => [file, readFileSync(join(folder, file), "utf8")]),
        ...literals.map((literal) => literal.split(/=(.*)/s)),
      ]),
    })),
  ];
}

/** What kustomize would miss in a folder: files that are not there, and content for a ConfigMap that nothing generates. */
export function missingIn(folder: string): readonly string[] {
  const { resources = [], components = [], patches = [], configMapGenerator = [] } = kustomizationIn(folder);
  const paths = [...resources, ...components, ...patches.flatMap(({ path = [] }) => path)];
  const files = configMapGenerator.flatMap(({ files = [] }) => files);
  const inner = [...resources, ...components].map((path) => join(folder, path)).filter(isFolder);
  // Generators of components run too late for an overlay to merge with them.
  const generated = resources
    .map((path) => join(folder, path))
    .filter(isFolder)
    .flatMap(generatedIn);
  const merged = configMapGenerator.filter(({ behavior }) => behavior === "merge").map(({ name }) => name);
  return [
    ...[...paths, ...files].map((path) => join(folder, path)).filter((path) => !existsSync(path)),
    ...merged.filter((name) => !generated.includes(name)),
    ...inner.flatMap(missingIn),
  ];
}

function generatedIn(folder: string): readonly string[] {
  const { resources = [], configMapGenerator = [] } = kustomizationIn(folder);
  const inner = resources.map((path) => join(folder, path)).filter(isFolder);
  return [...configMapGenerator.map(({ name }) => name), ...inner.flatMap(generatedIn)];
}

function kustomizationIn(folder: string): Kustomization {
  return parse(readFileSync(join(folder, "kustomization.yaml"), "utf8"));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The overlays that a page of the documentation shows, each as a folder that takes its objects from this checkout. */
export async function overlaysIn(page: string): Promise<readonly string[]> {
  const snippets = [...readFileSync(page, "utf8").matchAll(/^( *)```yaml\n([\s\S]*?)^\1```$/gm)]
    .map(([, indent = "", text = ""]) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""))
    .filter((text) => text.startsWith("# kustomization.yaml\n"));
  return Promise.all(snippets.map(overlayOf));
}

/** A folder with an overlay, which takes its objects from this checkout. */
export async function overlayOf(text: string): Promise<string> {
  const folder = join(realpathSync(await temporaryFolder()), "overlay");
  await mkdir(folder);
  const here = relative(folder, realpathSync(deploy));
  const local = text.replaceAll(/github\.com\/example\/holdfast\/\/deploy\/kubernetes(\S*)\?ref=\S+/g, `${here}$1`);
  await writeFile(join(folder, "kustomization.yaml"), local);
  await writeFile(join(folder, "holdfast.yaml"), "server: https://changed.example.com\n");
  return folder;
}
