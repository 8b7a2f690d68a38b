import { shapes } from "../contract/generated/shapes.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { pointerTokens } from "../contract/json-pointer.ts";
import { writtenValueAt } from "../core/diff/pointer.ts";
import { redactManifest } from "../core/redact/redact-manifest.ts";
import { error, MAX_SCHEMA_DIAGNOSTICS, type SchemaDiagnostic, warning } from "../schema/schema-diagnostic.ts";
import { allowedTypes, type Field, fieldAt, type SchemaNode } from "../schema/schema-node.ts";
import { schemaFor } from "../schema/schemas.ts";
import { quoted } from "../yaml/fault.ts";
import { numberRemedy, resolvePlain } from "../yaml/plain-scalar.ts";
import type { Respelling } from "../yaml/respelling.ts";

/**
 * The numbers and booleans of a manifest that would arrive as another text than is written: errors where a text may
 * stand, warnings in content that no schema describes. Where only a number or a boolean is allowed, the text is no matter.
 */
export function checkSpellings(
  type: string,
  value: JsonObject,
  respellings: readonly Respelling[],
): readonly SchemaDiagnostic[] {
  if (respellings.length === 0) return [];
  const schema = schemaFor(type);
  const shape = shapes[type];
  if (schema === undefined || shape === undefined) return [];
  const redacted = redactManifest(shape, value);
  const errors: SchemaDiagnostic[] = [];
  const warnings: SchemaDiagnostic[] = [];
  for (const { pointer, written } of respellings) {
    const tokens = pointerTokens(pointer);
    const severity = severityOf(schema, value, tokens);
    const read = writtenValueAt(value, tokens);
    if (severity === null || read === undefined) continue;
    const found = severity === error ? errors : warnings;
    if (found.length === MAX_SCHEMA_DIAGNOSTICS) continue;
    const isShown = writtenValueAt(redacted, tokens) === read;
    found.push(severity(pointer, "not-as-written", ...wordingOf(written, read, isShown)));
    // No more than these are reported, the errors first.
    if (errors.length === MAX_SCHEMA_DIAGNOSTICS) break;
  }
  return [...errors, ...warnings].slice(0, MAX_SCHEMA_DIAGNOSTICS);
}

function wordingOf(written: string, read: Json, isShown: boolean): readonly [message: string, help: string] {
  if (!isShown) return ["a value that would arrive as another text (not shown)", "Write it in quotes."];
  const [text, canonical] = [quoted(`"${written}"`), quoted(String(read))];
  const { is } = resolvePlain(written);
  const remedy = is === "value" ? `Write ${text}; or ${canonical}, if that is meant.` : numberRemedy(is, written);
  return [`${quoted(written)} would arrive as ${canonical}`, remedy];
}

function severityOf(schema: SchemaNode, value: Json, tokens: readonly string[]): typeof error | null {
  const fields = tokens.map((_, nth) => fieldAt(schema, value, tokens.slice(0, nth + 1)));
  const free = fields.findIndex(({ node }) => node?.["x-free"] === true);
  if (free >= 0) return severityWithin(fields[free], tokens.slice(free + 1));
  const node = fields.at(-1)?.node;
  if (node === undefined) return warning;
  return allowedTypes(node).includes("string") ? error : null;
}

// The components of an application set are manifests themselves, though its schema leaves them free.
function severityWithin(free: Field | undefined, tokens: readonly string[]): typeof error | null {
  const inner = free?.value;
  const isManifest = isObject(inner) && typeof inner.type === "string" && typeof inner.name === "string";
  const schema = isManifest ? schemaFor(String(inner.type)) : undefined;
  return schema === undefined || !isManifest ? warning : severityOf(schema, inner, tokens);
}
