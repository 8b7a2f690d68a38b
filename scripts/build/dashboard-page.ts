import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** A file of the page, as it is served. */
export type PageFile = { readonly type: string; readonly text: string };

/** The page of the dashboard: what it was built from, and its files by their paths. */
export type DashboardPage = { readonly build: string; readonly files: { readonly [path: string]: PageFile } };

/**
 * Bundles the page into a script and a style sheet, and what lays out graphs into a script of its own. Their names change with
 * their content. Returns the files that are in them too.
 */
export async function dashboardPage(
  root: string,
): Promise<{ readonly page: DashboardPage; readonly sources: readonly string[] }> {
  const folder = join(root, "src/dashboard");
  const worker = await bundled(join(folder, "graph-layout-worker.ts"));
  const layout = `/assets/graph-layout-${digestOf(worker.code)}.js`;
  const app = await bundled(join(folder, "app.tsx"), { GRAPH_LAYOUT: JSON.stringify(layout) });
  const styles = stylesOf(folder, "style.css");
  const script = `/assets/app-${digestOf(app.code)}.js`;
  const style = `/assets/style-${digestOf(styles)}.css`;
  const id = digestOf(script + style);
  const html = readFileSync(join(folder, "page.html"), "utf8");
  const text = html.replace("{build}", id).replace("{style}", style).replace("{script}", script);
  return {
    page: {
      build: id,
      files: {
        "/": { type: "text/html; charset=utf-8", text },
        [script]: { type: "text/javascript; charset=utf-8", text: app.code },
        [layout]: { type: "text/javascript; charset=utf-8", text: worker.code },
        [style]: { type: "text/css; charset=utf-8", text: styles },
      },
    },
    sources: [...app.moduleIds, ...worker.moduleIds],
  };
}

/** What the reference page of the control plane loads. */
export type ReferenceAssets = {
  readonly script: string;
  readonly stylesheet: string;
  /** The files that are in the script. */
  readonly sources: readonly string[];
};

/** Bundles the script of the reference page, and its style sheet, which begins with what the dashboard has too. */
export async function referenceAssets(root: string): Promise<ReferenceAssets> {
  const folder = join(root, "src/dashboard");
  const { code, moduleIds } = await bundled(join(folder, "reference/page.tsx"));
  return { script: code, stylesheet: stylesOf(folder, "reference/style.css"), sources: moduleIds };
}

function stylesOf(folder: string, own: string): string {
  return ["base.css", own].map((file) => readFileSync(join(folder, file), "utf8")).join("");
}

async function bundled(input: string, define: { readonly [name: string]: string } = {}) {
  const build = await rolldown({
    input,
    platform: "browser",
    // The one of the page extends that of the checkout, which a copy of the sources may lack.
    tsconfig: false,
    transform: { target: "es2022", jsx: { runtime: "automatic", importSource: "preact" }, define },
  });
  const { output } = await build.generate({ format: "esm", minify: true, comments: { legal: true } });
  await build.close();
  const [chunk] = output;
  // What is not found stays an import, which no browser could follow.
  if (chunk.imports.length > 0) throw new Error(`the page needs ${chunk.imports.join(", ")}: run \`npm ci\``);
  return chunk;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
