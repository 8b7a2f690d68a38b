import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dump } from "js-yaml";
import type { JsonObject } from "../../src/contract/json.ts";
import { BLOCK, block } from "./block.ts";

/** The first `count` manifests of the corpus: the same for everybody, and consistent at every length. */
export function corpus(count: number): readonly JsonObject[] {
  const blocks = Array.from({ length: Math.ceil(count / BLOCK) }, (_, nth) => block(nth));
  return blocks.flat().slice(0, count);
}

/** A manifest's text with one fault in it: in every tenth file a slip in YAML, in all others a field that no schema knows. */
export function withFault(text: string, index: number): string {
  return index % 10 === 0 ? `${text}labels: [a, b\n` : `${text}no_such_field: 1\n`;
}

/** Writes one file per manifest, in a folder per block and type, its text changed on the way; gives the number of bytes. */
export function writeCorpus(folder: string, count: number, change = (text: string, _: number): string => text): number {
  let bytes = 0;
  for (const [index, manifest] of corpus(count).entries()) {
    const file = join(folder, `block-${Math.floor(index / BLOCK)}`, `${manifest.type}`, `${manifest.name}.yaml`);
    const text = change(dump(manifest, { lineWidth: 120, noRefs: true }), index);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    bytes += Buffer.byteLength(text);
  }
  return bytes;
}
