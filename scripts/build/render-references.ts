import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { renderReference } from "../../src/server/reference/render-reference.ts";

/** Renders the reference in every form that a server may answer; the plugin has the bundle read the results. */
export async function renderReferences(outdir: string): Promise<Plugin> {
  mkdirSync(join(outdir, "reference"), { recursive: true });
  for (const documentedOnly of [true, false]) {
    for (const unknownFields of ["refuse", "allow"] as const) {
      const reference = await renderReference({ documentedOnly, unknownFields });
      writeFileSync(join(outdir, "reference", fileName(documentedOnly, unknownFields)), JSON.stringify(reference));
    }
  }
  return {
    name: "rendered-reference",
    load: {
      filter: { id: /src\/server\/reference\/render-reference\.ts$/ },
      handler: () => ({ code: readRendered, moduleType: "js" }),
    },
  };
}

function fileName(documentedOnly: boolean, unknownFields: "refuse" | "allow"): string {
  return `${documentedOnly ? "documented" : "all"}-${unknownFields}.json`;
}

// The chunks of a bundle lie in one folder.
const readRendered = `
import { readFile } from "node:fs/promises";

const fileName = ${fileName.toString()};

export async function renderReference({ documentedOnly, unknownFields }) {
  const file = new URL("reference/" + fileName(documentedOnly, unknownFields), import.meta.url);
  return JSON.parse(await readFile(file, "utf8"));
}
`;
