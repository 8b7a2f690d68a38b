import { join } from "node:path";
import { build } from "esbuild";
import { copyGenerated } from "../scripts/build/generated.ts";

/** The floors as bundles, since ours is measured as one: start-up counts. */
export type Floors = { readonly [name in (typeof NAMES)[number]]: string };

const NAMES = ["validate", "plan", "cached-plan", "apply", "single-reads", "dry-runs"] as const;

/** Bundles every floor into a folder. */
export async function buildFloors(folder: string): Promise<Floors> {
  await bundleFloors(
    NAMES.map((name) => join(import.meta.dirname, "floor", `${name}.ts`)),
    folder,
  );
  copyGenerated(folder);
  const at = (name: string) => join(folder, `${name}.mjs`);
  return {
    validate: at("validate"),
    plan: at("plan"),
    "cached-plan": at("cached-plan"),
    apply: at("apply"),
    "single-reads": at("single-reads"),
    "dry-runs": at("dry-runs"),
  };
}

/** Bundles programs into a folder, each as one `.mjs` file. */
export async function bundleFloors(programs: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...programs],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    logLevel: "warning",
    banner: {
      js: 'import { createRequire as floorRequire } from "node:module"; const require = floorRequire(import.meta.url);',
    },
  });
}
