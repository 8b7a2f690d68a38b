import { faultyDocument, type ParsedDocument } from "../document.ts";
import { type Fault, fault } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import { firstMergeConflict } from "../merge-conflict.ts";
import type { ExactReader } from "../parse-file.ts";
import type { Chunk } from "../split-documents.ts";
import { type AliasBudget, build } from "./build-value.ts";
import { isTemplateFault, TEMPLATE } from "./likely-mistake.ts";
import { nodeOffsets } from "./node-offsets.ts";
import { parseExact } from "./parse-exact.ts";

/** Reads the documents of one file with the library `yaml`; their aliases share one budget. */
export function exactReader(limits: YamlLimits, checksText: boolean): ExactReader {
  const aliases: AliasBudget = { left: limits.fileBytes };
  return (chunk) => readExact(chunk, limits, { checksText, aliases });
}

function readExact(
  chunk: Chunk,
  limits: YamlLimits,
  options: { readonly checksText: boolean; readonly aliases: AliasBudget },
): ParsedDocument | null {
  const parsed = parseExact(chunk.text, limits);
  const shifted = (faults: readonly Fault[]) => faults.map((each) => shift(each, chunk.offset));
  if ("faults" in parsed)
    return { ...faultyDocument(chunk, shifted(withoutEchoes(parsed.faults, chunk.text))), readBy: "exact" };
  const { root } = parsed;
  if (root === null) return chunk.isExplicit ? faultyDocument(chunk, []) : null;
  const { value, faults, offset, hasCredentials, respellings } = build(root, limits, options);
  return {
    value,
    faults: shifted(faults.map((each) => (isTemplate(each, chunk.text) ? { ...each, ...TEMPLATE } : each))),
    offset: chunk.offset + offset,
    hasCredentials,
    chunk,
    readBy: "exact",
    fieldOffsets: () => nodeOffsets(root, chunk.offset),
    respellings: () => respellings,
  };
}

function shift({ other, ...found }: Fault, by: number): Fault {
  const shifted = { ...found, offset: Math.max(0, found.offset) + by };
  return other === undefined ? shifted : { ...shifted, other: Math.max(0, other) + by };
}

// Each conflict marker and each line of a template causes faults, wherever the parser notices, so only the cause is reported.
function withoutEchoes(faults: readonly Fault[], text: string): readonly Fault[] {
  const conflict = firstMergeConflict(text);
  if (conflict !== null)
    return [fault(conflict.offset, "syntax", `not valid YAML: ${conflict.summary}`, conflict.detail)];
  const cause = faults.find(isTemplateFault);
  return cause === undefined ? faults : [cause];
}

// `{{` in YAML is a mapping as the key of another, which is never intended.
function isTemplate({ code, offset }: Fault, text: string): boolean {
  return code === "key" && text.startsWith("{{", offset - 1);
}
