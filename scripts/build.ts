import { rmSync } from "node:fs";
import { build } from "esbuild";

/** Where the bundle goes: `dist`, or the folder that is named. */
const outdir = process.argv[2] ?? "dist";
rmSync(outdir, { recursive: true, force: true });
await build({
  // Threads stand beside the chunks that start them, under the names that they have among the sources.
  entryPoints: {
    holdfast: "src/cli.ts",
    worker: "src/source/parse/worker.ts",
    thread: "src/source/thread.ts",
    committer: "src/store/committer.ts",
  },
  outdir,
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
