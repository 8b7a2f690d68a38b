import { build, type Plugin } from "esbuild";
import { copyGenerated } from "./generated.ts";
import { renderReferences } from "./reference.ts";

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

/** Bundles an entry point, with all that it reads or starts, into a folder; paths are relative to the checkout. */
export async function bundle(entryPoint: { readonly [name: string]: string }, outdir: string): Promise<void> {
  copyGenerated(outdir);
  await build({
    // Threads stand beside the chunks that start them, under the names that they have among the sources.
    entryPoints: { ...entryPoint, worker: "src/yaml/exact/worker.ts" },
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
}
