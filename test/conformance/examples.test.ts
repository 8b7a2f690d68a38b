import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadAll } from "js-yaml";
import { describe, expect, it } from "vitest";
import { isObject, type Json, type JsonObject, text } from "../../src/contract/json.ts";
import { secretReferences } from "../../src/contract/secret-references.ts";
import { manifestReferences } from "../../src/core/manifest-references.ts";
import { kindOf, kinds } from "../../src/kinds/index.ts";
import { checkSemantics } from "../../src/schema/check-semantics.ts";
import { schemaFields } from "../../src/schema/schema-node.ts";
import { schemaFor } from "../../src/schema/schemas.ts";
import { validateConfig, validateManifest } from "../../src/schema/validate.ts";

const root = join(import.meta.dirname, "..", "..", "examples");
const now = new Date("2026-11-21T00:00:00Z");

const manifests = globSync("manifests/**/*.{yaml,json}", { cwd: root })
  .toSorted()
  .flatMap((file) => loadAll(readFileSync(join(root, file), "utf8")).filter(isObject));

const typeOf = (manifest: JsonObject) => text(manifest.type) ?? "";
const identityOf = (manifest: JsonObject) => {
  const kind = kindOf(typeOf(manifest));
  return `${kind?.type}/${kind?.key(manifest)}`;
};

/** The YAML blocks of the documentation, with their places. */
const blocks = globSync("{README.md,SECURITY.md,CHANGELOG.md,docs/**/*.md}", { cwd: join(root, "..") }).flatMap(
  (file) => {
    const text = readFileSync(join(root, "..", file), "utf8");
    return [...text.matchAll(/^( *)```ya?ml[^\n]*\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""], nth) => ({
      place: `${file}, block ${nth + 1}`,
      documents: loadAll(block.replaceAll(new RegExp(`^${indent}`, "gm"), "")).filter(isObject),
    }));
  },
);

describe("the YAML of the documentation", () => {
  const documents = blocks.flatMap(({ place, documents }) => documents.map((value) => ({ place, value })));
  const isOurs = ({ value }: { value: JsonObject }) => kindOf(typeOf(value)) !== undefined;
  const isOthers = ({ value }: { value: JsonObject }) =>
    "kind" in value || "configMapGenerator" in value || "on" in value || "repos" in value || "patch" in value;

  it("is valid where it is a manifest", () => {
    const ours = documents.filter(isOurs);
    expect(ours.length).toBeGreaterThan(1);
    for (const { place, value } of ours) {
      expect(validateManifest(typeOf(value), value), place).toEqual([]);
      expect(checkSemantics(typeOf(value), value, { now }), place).toEqual([]);
    }
  });

  it("is valid where it is a configuration", () => {
    // The values of the chart hold one for the daemon.
    const configurations = documents
      .filter((each) => !isOurs(each) && !isOthers(each))
      .map(({ place, value }) => ({ place, value: isObject(value.daemon) ? value.daemon.config : value }));
    expect(configurations.length).toBeGreaterThan(3);
    for (const { place, value } of configurations) expect(validateConfig(value), place).toEqual([]);
  });
});

describe("the examples", () => {
  it("are the platform that their README promises", () => {
    const count = (type: string) => manifests.filter((manifest) => kindOf(typeOf(manifest))?.type === type).length;
    expect([count("cluster"), count("workspace"), count("service")]).toEqual([2, 4, 10]);
    expect([count("team"), count("virtual-account"), count("ml-repo")]).toEqual([3, 3, 2]);
    for (const { type } of kinds) expect(count(type), type).toBeGreaterThan(0);
  });

  it("are valid, without a warning", () => {
    const clusters = new Map(manifests.filter((manifest) => manifest.type === "cluster").map((one) => [one.name, one]));
    for (const manifest of manifests) {
      const cluster = clusters.get(text(manifest.workspace_fqn)?.split(":")[0] ?? "");
      const context = cluster === undefined ? { now } : { now, cluster };
      expect(validateManifest(typeOf(manifest), manifest), identityOf(manifest)).toEqual([]);
      expect(checkSemantics(typeOf(manifest), manifest, context), identityOf(manifest)).toEqual([]);
    }
  });

  it("declare everything that they refer to, and in no circle", () => {
    const references = new Map(
      manifests.map((manifest) => [identityOf(manifest), manifestReferences(manifest).map(({ identity }) => identity)]),
    );
    for (const [identity, named] of references) {
      // The group of secrets is made beside the manifests, as the next test says.
      for (const name of named.filter((one) => one !== "secret-group/platform"))
        expect(references.has(name) || references.has(name.replace(/@\d+$/, "")), `${identity} → ${name}`).toBe(true);
      expect(reached(references, identity).has(identity), `${identity} is in a circle`).toBe(false);
    }
  });

  it("use only secrets of the secret group that comes with them", () => {
    const group = JSON.parse(readFileSync(join(root, "secret-group.json"), "utf8"));
    const keys: readonly string[] = group.secrets.map(({ key }: { key: string }) => `holdfast:${group.name}:${key}`);
    const mounted = manifests.flatMap(({ mounts }) =>
      Array.isArray(mounts)
        ? mounts.flatMap((mount: Json) => (isObject(mount) ? (text(mount.secret_fqn) ?? []) : []))
        : [],
    );
    const named = manifests.flatMap((manifest) => secretReferences(manifest).map(({ fqn }) => fqn));
    expect(new Set([...mounted, ...named])).toEqual(new Set(keys));
    for (const { value } of group.secrets) expect(value).toMatch(/^example-only-/);
    const readme = readFileSync(join(root, "README.md"), "utf8");
    for (const key of keys) expect(readme).toContain(`\`${key}\``);
  });

  it.each(kinds.map(({ type }) => type))("use every field of %s", (type) => {
    const schema = schemaFor(type);
    const fields = schema === undefined ? [] : schemaFields(schema);
    // What needs files beside it is shown by the examples of the schema alone.
    const shown = [...manifests, ...(schema?.examples ?? []).filter(isObject)];
    const used = new Set(
      shown.filter((manifest) => kindOf(typeOf(manifest))?.type === type).flatMap((manifest) => paths(manifest, "")),
    );
    expect(fields.map(({ path }) => path).filter((path) => !used.has(path))).toEqual([]);
  });
});

function paths(value: Json | undefined, path: string): readonly string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item: Json) => paths(item, `${path}[]`))];
  if (!isObject(value)) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([name, field]) => paths(field, path === "" ? name : `${path}.${name}`)),
  ];
}

function reached(references: ReadonlyMap<string, readonly string[]>, from: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(references.get(from) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(references.get(next) ?? []));
  }
  return found;
}
