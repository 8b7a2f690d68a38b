import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diagnosticsText, severityCounts, validationText } from "../../../src/render/diagnostics.ts";
import { jsonText } from "../../../src/render/escape.ts";
import { plain } from "../../../src/render/paint.ts";
import { excerptReader } from "../../../src/source/excerpt-reader.ts";
import { folderOf, loadRevision, read } from "../source/source.ts";

const file = join(import.meta.dirname, "messages.md");
const [preface = "", ...mistakes] = readFileSync(file, "utf8").split(/^(?=## )/m);

/** What a source is told, as it stands on a terminal, and as JSON. */
async function toldOf(files: { readonly [file: string]: string }) {
  const root = await folderOf(files);
  const { diagnostics, files: count, manifests, documents } = await loadRevision(await read(root));
  const text = diagnosticsText(diagnostics, { paint: plain, width: 80, excerptOf: excerptReader(root) });
  const counts = {
    files: count,
    manifests: manifests.length,
    declared: documents,
    strict: false,
    ...severityCounts(diagnostics),
  };
  return { text: text + validationText(counts, 80), json: jsonText({ diagnostics }) };
}

function filesIn(mistake: string): { readonly [file: string]: string } {
  const blocks = mistake.matchAll(/^```(?:yaml|json) (\S+)\n(.*?)^```$/gms);
  return Object.fromEntries(Array.from(blocks, ([, name = "", text = ""]) => [name, text]));
}

test("each mistake is told as it is written down, and JSON says the same", async () => {
  const told: string[] = [];
  for (const mistake of mistakes) {
    const { text, json } = await toldOf(filesIn(mistake));
    told.push(`${mistake.replace(/^```text\n.*?^```\n+/ms, "").trimEnd()}\n\n\`\`\`text\n${text}\`\`\`\n`);
    expectSame(text, json);
  }
  expect(told.length).toBeGreaterThan(40);
  await expect(`${preface}${told.join("\n")}`).toMatchFileSnapshot(file);
});

function expectSame(text: string, json: string): void {
  const { diagnostics } = JSON.parse(json);
  expect(diagnostics.length).toBeGreaterThan(0);
  const words = text.replaceAll(/\s+/g, " ");
  for (const { file: where, line, column, severity, summary, code, detail } of diagnostics) {
    const said = `${where}:${line}:${column}: ${severity}: ${summary} [${code}]`;
    expect(words).toContain(said);
    expect(words).toContain(detail ?? "");
  }
}
