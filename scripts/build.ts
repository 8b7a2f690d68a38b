import { rmSync } from "node:fs";
import { build, type Plugin } from "esbuild";
import { copyGenerated } from "./build/generated.ts";
import { renderReferences } from "./build/reference.ts";

// Of undici the client needs a pool and its way through a proxy: its other two thirds would cost each start a third more.
const partsOfUndici: Plugin = {
  name: "parts-of-undici",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
      path: "undici",
      namespace: "parts",
      pluginData: { resolveDir },
    }));
    onLoad({ filter: /./, namespace: "parts" }, ({ pluginData: { resolveDir } }) => ({
      contents: ["Pool pool", "ProxyAgent proxy-agent"]
        .map((part) => part.split(" "))
        .map(([name, file]) => `export { default as ${name} } from "undici/lib/dispatcher/${file}.js";`)
        .join("\n"),
      resolveDir,
    }));
  },
};

/** Where the bundle goes: `dist`, or the folder that is named. */
const outdir = process.argv[2] ?? "dist";
rmSync(outdir, { recursive: true, force: true });
copyGenerated(outdir);
await build({
  // Threads stand beside the chunks that start them, under the names that they have among the sources.
  entryPoints: {
    holdfast: "src/cli.ts",
    worker: "src/yaml/exact/worker.ts",
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
  plugins: [partsOfUndici, await renderReferences(outdir)],
  logLevel: "warning",
});
