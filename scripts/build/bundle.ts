import { globSync } from "node:fs";
import { resolve } from "node:path";
import { type CodeSplittingGroup, type Plugin, rolldown } from "rolldown";
import { checkoutCommit } from "../../src/commands/checkout-commit.ts";
import { readBuiltinsByName } from "./builtin-modules.ts";
import { copyGenerated } from "./generated.ts";

/**
 * Sources that are put into one file each, with all that they import: what a command loads comes in few files, since each costs
 * a start a millisecond. A group has what none before it has.
 */
const groups: { readonly [name: string]: readonly string[] } = {
  manifests: ["src/commands/validate.ts"],
  records: ["history", "hold", "reconcile", "release", "state"].map(command),
  commands: [
    ...[
      "adopt",
      "apply",
      "audit",
      "drift",
      "forget",
      "plan",
      "redeploy",
      "resolve",
      "status",
      "token",
      "unlock",
      "whoami",
      "why",
    ].map(command),
    "src/commands/output/write-outputs.ts",
    "src/contract/**/*.ts",
  ],
  // The control plane shares them with a connection and with watch, and needs nothing else of these.
  log: ["src/commands/output/terminal-log.ts", "src/commands/output/lifecycle.ts"],
  connection: ["src/commands/connection/open-connection.ts"],
  ledger: ["src/state/sqlite/open-folder-ledger.ts", "src/state/sqlite/state-database.ts", "src/state/database/*.ts"],
  passes: ["src/engine/passes/*-pass.ts"],
  server: [
    ...["backup", "revoke", "serve"].map(command),
    "src/commands/connection/start-embedded.ts",
    "src/commands/audit/verify.ts",
    "src/server/**/*.ts",
  ],
};

function command(name: string): string {
  return `src/commands/${name}.ts`;
}

const PARTS = "\0parts-of-undici";

// Of undici the client needs a pool and its way through a proxy: its other two thirds would cost each start a third more.
const partsOfUndici: Plugin = {
  name: "parts-of-undici",
  resolveId: { filter: { id: /^undici$/ }, handler: () => PARTS },
  load: (id) => {
    if (id !== PARTS) return null;
    return `
      export { default as Pool } from "undici/lib/dispatcher/pool.js";
      export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
    `;
  },
};

/**
 * Bundles an entry point, with all that it reads or starts, into a folder; paths are relative to the checkout. Returns the
 * files that are in it.
 */
export async function bundle(
  entryPoint: { readonly [name: string]: string },
  outdir: string,
): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  copyGenerated(outdir);
  const plugins = [partsOfUndici, readBuiltinsByName];
  // The image is built without the repository, and is told the commit.
  const commit = process.env.REVISION || checkoutCommit(".");
  // Threads stand beside the chunks that start them, under the names that they have among the sources. A bundle of their
  // own keeps what they share with commands out of the start of each.
  for (const input of [entryPoint, { worker: "src/yaml/exact/worker.ts" }]) {
    const build = await rolldown({
      input,
      platform: "node",
      plugins,
      transform: { define: { BUILD_COMMIT: JSON.stringify(commit) } },
      // Groups put modules together that a command does not always need.
      checks: { ineffectiveDynamicImport: false },
    });
    const { output } = await build.write({
      dir: outdir,
      format: "esm",
      chunkFileNames: "[name]-[hash].js",
      // Licences stay above the code that they are for.
      comments: { legal: true, annotation: false, jsdoc: false },
      // Commands load their code when they run, so that `--help` does not pay for the control plane.
      codeSplitting: { groups: codeSplittingGroups() },
    });
    for (const chunk of output) for (const file of chunk.type === "chunk" ? chunk.moduleIds : []) files.add(file);
    await build.close();
  }
  return files;
}

function codeSplittingGroups(): CodeSplittingGroup[] {
  // The entry point awaits while it is loaded, so nothing may import it.
  const start: CodeSplittingGroup = { name: "start", test: /^(?!.*\/src\/cli\.ts$)/, tags: ["$initial"] };
  const loadedLater = Object.entries(groups).map(([name, sources]): CodeSplittingGroup => {
    const files = new Set(sources.flatMap(filesOf));
    return { name, test: (id) => files.has(id) };
  });
  const all = [start, ...loadedLater];
  // None may be negative: such a one would come first.
  return all.map((group, index) => ({ ...group, priority: all.length - index }));
}

function filesOf(source: string): readonly string[] {
  const files = globSync(source).map((file) => resolve(file));
  if (files.length === 0) throw new Error(`the bundle groups ${source}, which is not there`);
  return files;
}
