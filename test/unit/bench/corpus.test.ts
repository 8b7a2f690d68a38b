import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { block, secretGroup } from "../../../bench/corpus/block.ts";
import { corpus, writeCorpus } from "../../../bench/corpus/corpus.ts";
import { manifestReferences } from "../../../src/core/manifest-references.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { validateManifest } from "../../../src/schema/validate.ts";

const manifests = corpus(300);

test("a block holds the documented mix", () => {
  const counted = Object.fromEntries(
    Map.groupBy(block(0), ({ type }) => String(type))
      .entries()
      .map(([type, all]) => [type, all.length]),
  );
  expect(counted).toEqual({
    service: 59,
    workspace: 10,
    "virtual-account": 8,
    "model-version": 8,
    chat_prompt: 7,
    team: 6,
    cluster: 1,
    "ml-repo": 1,
  });
});

test("every manifest is valid, without so much as a warning", () => {
  const faults = manifests.flatMap((manifest) => validateManifest(String(manifest.type), manifest));
  expect(faults).toEqual([]);
});

test("identities are unique, and every reference is to an earlier manifest", () => {
  const known = new Set<string>();
  // Made beside the corpus.
  const secrets = `secret-group/${secretGroup.name}`;
  for (const manifest of manifests) {
    const kind = kindOf(String(manifest.type));
    if (kind === undefined) throw new Error(`no kind for ${manifest.type}`);
    const missing = manifestReferences(manifest).filter(({ identity }) => !known.has(identity) && identity !== secrets);
    expect(missing).toEqual([]);
    const identity = `${kind.type}/${kind.key(manifest)}`;
    expect(known).not.toContain(identity);
    known.add(identity);
  }
});

test("a shorter corpus is a prefix of a longer one", () => {
  expect(corpus(123)).toEqual(manifests.slice(0, 123));
});

test("a manifest is about 2 KB of YAML", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-corpus-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const mean = writeCorpus(folder, 100) / 100;
  expect(mean).toBeGreaterThan(1_800);
  expect(mean).toBeLessThan(2_200);
});
