import { canonical, isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { once } from "../model/once.ts";
import { inFieldOrder, sortFields } from "../schema/field-order.ts";
import { fieldAt } from "../schema/schema-node.ts";
import { schemaFor } from "../schema/schemas.ts";
import { diagnosticInFile, fileDiagnostic } from "../source/file-diagnostic.ts";
import { defaultLimits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { type Fault, warningFault } from "../yaml/fault.ts";
import { lineFinder } from "../yaml/locator.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { textForm } from "../yaml/text-form.ts";
import { claimsFile, detectOversize } from "./detect-file.ts";
import { detectDocument } from "./detect-manifest.ts";
import { type Rereading, readOptionsOf } from "./source-manifest.ts";

/** What became of a file: its new bytes, or null if it stays as it is; errors if it cannot be read. */
export type FormattedFile = {
  readonly bytes: Buffer | null;
  /** The number of manifests in it. */
  readonly manifests: number;
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * A file with the fields of its manifests in canonical order. Nothing else changes, and the result is read again: a document
 * that would not be the same keeps its order. A file with an error stays as it is.
 */
export async function formatFile(file: SourceFile, reading: Rereading): Promise<FormattedFile> {
  const bytes = await file.bytes(reading);
  const oversize = detectOversize(file, bytes, defaultLimits);
  if (oversize === "manifest")
    return faulty([fileDiagnostic("error", "too-large", file.display, "too large to be read")]);
  if (oversize !== null) return faulty([]);
  const options = readOptionsOf(file, defaultLimits);
  const formOf = once(() => textForm(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")));
  const parsed = await readYaml(bytes, options, reading.exact);
  const { text, faults, documents } = parsed;
  const located = (fault: Fault) => diagnosticInFile(file.display, fault, lineFinder(text)(fault.offset));
  if (faults.length > 0) return faulty(claimsFile(bytes, parsed) ? faults.map(located) : []);
  const broken = documents.flatMap(errorsIn);
  if (broken.length > 0) return faulty(broken.map(located));
  const manifests = documents.filter((document) => detectDocument(document).is === "manifest");
  const kept: Diagnostic[] = [];
  let formatted = "";
  let done = 0;
  for (const document of manifests) {
    const { chunk } = document;
    const next = await reordered(document, reading);
    const isSame = next !== null && (await isEqual(next, document, reading));
    if (!isSame) kept.push(located(orderKept(document.offset)));
    formatted += text.slice(done, chunk.offset) + (isSame ? next : chunk.text);
    done = chunk.offset + chunk.text.length;
  }
  formatted += text.slice(done);
  return {
    bytes: formatted === text ? null : Buffer.from(formOf().restore(formatted)),
    manifests: manifests.length,
    diagnostics: kept,
  };

  async function reordered({ chunk, value }: ParsedDocument, { exact }: Rereading): Promise<string | null> {
    if (!isObject(value)) return null;
    if (JSON.stringify(inFieldOrder(String(value.type), value)) === JSON.stringify(value)) return chunk.text;
    // Which end belongs to which line would be lost.
    if (formOf().hasMixedEnds) return null;
    return await exact.reorder(chunk.text, options, orderOf(value));
  }

  async function isEqual(next: string, { chunk, value }: ParsedDocument, { exact }: Rereading): Promise<boolean> {
    if (next === chunk.text) return true;
    // What was moved may be in another place; nothing of it may be lost, comments included.
    if (visibleIn(next) !== visibleIn(chunk.text)) return false;
    const again = await readYaml(Buffer.from(next), options, exact);
    const [one, ...others] = again.documents;
    if (one === undefined || again.faults.length + others.length > 0 || errorsIn(one).length > 0) return false;
    return canonical(one.value) === canonical(value);
  }
}

function faulty(diagnostics: readonly Diagnostic[]): FormattedFile {
  return { bytes: null, manifests: 0, diagnostics };
}

function orderKept(offset: number): Fault {
  const detail =
    "An alias would stand before its anchor, a comment would end up in a text, lines end in different ways, or the document is too large: order the fields by hand.";
  return warningFault(offset, "order-kept", "the fields keep their order", detail);
}

function errorsIn(document: ParsedDocument): readonly Fault[] {
  const detected = detectDocument(document);
  if (detected.is === "faulty") {
    const { code = "no-type", summary, detail } = detected;
    return [{ offset: document.offset, severity: "error", code, summary, detail }];
  }
  const isOurs = detected.is === "manifest" || detected.is === "broken";
  return isOurs ? document.faults.filter(({ severity }) => severity === "error") : [];
}

/** The names of the fields of each object in canonical order, by JSON Pointer. */
function orderOf(value: JsonObject): ReadonlyMap<string, readonly string[]> {
  const schema = schemaFor(String(value.type)) ?? {};
  const order = new Map<string, readonly string[]>();
  const visit = (at: Json, tokens: readonly string[]): void => {
    if (Array.isArray(at)) for (const [nth, item] of at.entries()) visit(item, [...tokens, String(nth)]);
    if (!isObject(at)) return;
    const names = Object.keys(at);
    const pointer = tokens.map((token) => `/${escapePointer(token)}`).join("");
    order.set(
      pointer,
      sortFields(names, (name) => name, fieldAt(schema, value, tokens).names),
    );
    for (const name of names) visit(at[name] ?? null, [...tokens, name]);
  };
  visit(value, []);
  return order;
}

/** The characters of a text that are seen, in an order of their own. */
function visibleIn(text: string): string {
  return text.replaceAll(/\s/g, "").split("").toSorted().join("");
}
