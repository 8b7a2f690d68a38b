import { rmSync } from "node:fs";
import { build } from "esbuild";

rmSync("dist", { recursive: true, force: true });
await build({
  entryPoints: { holdfast: "src/cli.ts" },
  outdir: "dist",
  bundle: true,
  // Commands load their code when they run, so that `--help` does not pay for the control plane.
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node24",
  chunkNames: "chunk-[hash]",
  // Packages written as CommonJS ask for `require`.
  banner: {
    js: 'import { createRequire as holdfastRequire } from "node:module"; const require = holdfastRequire(import.meta.url);',
  },
  legalComments: "linked",
  logLevel: "warning",
});
