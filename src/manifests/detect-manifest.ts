import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { isCredential } from "../model/credential.ts";
import { namingFields } from "../model/normal-form.ts";
import { oncePer } from "../model/once.ts";
import { closestName } from "../schema/closest-name.ts";
import { unionVariants } from "../schema/schema-node.ts";
import { manifestTypes, requiredFields, schemaFor } from "../schema/schemas.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { quoted } from "../yaml/fault.ts";
import { mergeConflictAt } from "../yaml/merge-conflict.ts";
import { claimOf, claimsType } from "./claims-type.ts";

/**
 * What a document is: a manifest of a managed type, another document, a report of ours, or a manifest with a wrong
 * type.
 */
export type Detected =
  | { readonly is: "manifest"; readonly type: string }
  | {
      readonly is: "other";
      readonly code: string;
      readonly summary: string;
      readonly detail: string | null;
      /** The type that it names, safe to show; null if it names none. */
      readonly type: string | null;
      /** Whether it may be meant as a manifest, which gets its own warning. */
      readonly mayBeOurs: boolean;
      /** Whether its type is managed, and yet it is another tool's. */
      readonly hasOurType: boolean;
    }
  /** Written by one of our commands, such as a saved plan. */
  | { readonly is: "report" }
  | {
      readonly is: "faulty";
      readonly key: string;
      readonly summary: string;
      readonly detail: string;
      /** `no-type` unless it says otherwise. */
      readonly code?: string;
    };

const UNTYPED =
  "Skipped. List files that are not manifests in .holdfastignore; " +
  `the \`type\` of a manifest is one of ${manifestTypes.toSorted().join(", ")}.`;

/** The detail of a diagnostic about a document or file that cannot be parsed and names no manifest type. */
export const SKIPPED = "Skipped: it names no manifest type. List files that are not manifests in .holdfastignore.";

// By its `type`; if that is missing, by its fields.
function detectManifest(value: Json): Detected {
  if (value === null) return other("empty", "an empty document");
  if (Array.isArray(value)) {
    const hint = listHint(value);
    const code = hint === null ? "not-a-manifest" : "list-of-manifests";
    return other(code, "no manifest: a list, not a mapping", { detail: hint, mayBeOurs: hint !== null });
  }
  if (!isObject(value)) return other("not-a-manifest", "no manifest: a single value, not a mapping");
  if (typeof value.type === "string") return typed(value.type, value);
  if (/^[12]\.\d+$/.test(text(value.format_version) ?? "") && (isObject(value.summary) || isObject(value.error)))
    return { is: "report" };
  return nearMiss(value) ?? untyped(value);
}

/** What a document is, even if it cannot be parsed; `broken` is one whose text names a manifest type. */
export function detectDocument(
  { value, faults, chunk }: ParsedDocument,
  claims: (text: string) => boolean = claimsType,
): Detected | { readonly is: "broken" } {
  const [first] = faults;
  // Without a blank after its colons, JSON between the markers of a merge conflict is one long text in YAML.
  const conflict = typeof value === "string" ? mergeConflictAt(chunk.text, chunk.text.search(/\S/)) : null;
  if (conflict !== null && claims(chunk.text)) return { is: "faulty", key: "", code: "syntax", ...conflict };
  if (value !== null || first === undefined) return detectManifest(value);
  // A saved plan may exceed the limits of a manifest.
  if (isPlanText(chunk.text)) return { is: "report" };
  return claims(chunk.text) ? { is: "broken" } : other(first.code, first.summary, { detail: SKIPPED });
}

/** Whether a text begins like a saved plan. */
export function isPlanText(text: string): boolean {
  return /^\{\s{1,8}"format_version": "[12]\.\d+",\s{1,8}"revision":/.test(text);
}

/**
 * Matches a text that is not plain YAML and may be a manifest: a managed type under `type` or a misspelt key, or any
 * type at the top level. Other texts are skipped without being parsed.
 */
export const worthReading: RegExp = new RegExp(
  `${claimOf(manifestTypes, "\\w{3,6}").source}|^["']?type["']?[ \\t]*:`,
  "m",
);

type OtherDocument = Detected & { readonly is: "other" };

function other(code: string, summary: string, more: Partial<OtherDocument> = {}): OtherDocument {
  return { is: "other", code, summary, detail: null, type: null, mayBeOurs: false, hasOurType: false, ...more };
}

function listHint(items: readonly Json[]): string | null {
  const isOurs = items.some(
    (item) => isObject(item) && typeof item.type === "string" && manifestTypes.includes(item.type),
  );
  return isOurs ? "Its items look like manifests: write each as a document of its own, after a line of `---`." : null;
}

function typed(type: string, value: JsonObject): Detected {
  if (manifestTypes.includes(type)) return anotherTools(type, value) ?? { is: "manifest", type };
  const near = closestName(type, manifestTypes);
  if (near !== undefined && hasFieldsOf(value, near)) {
    const detail = `Write \`type: ${near}\`.`;
    return { is: "faulty", key: "type", summary: "an unknown `type`", detail };
  }
  if (near === undefined || !hasOnlyFieldsOf(value, near)) return unknownType(type);
  return { ...unknownType(type), detail: `Did you mean \`${near}\`?`, mayBeOurs: true };
}

// Other tools have jobs, services and teams too.
function anotherTools(type: string, value: JsonObject): Detected | null {
  // Encrypted with SOPS: what it holds is not all in sight.
  if (isObject(value.sops)) return null;
  const lacks = Object.hasOwn(value, "name") ? lackedFields(type, value) : lackedName(value);
  if (lacks === null) return null;
  const detail = "Counted as another tool's. A manifest of ours has a `name` and fields of its kind.";
  return other("not-ours", `of type ${quoted(type)}, but ${lacks}`, { detail, type, hasOurType: true });
}

function lackedFields(type: string, value: JsonObject): string | null {
  // Nearly every manifest has another required field. The rest of the schema is then not needed.
  for (const key of otherRequired(type)) if (Object.hasOwn(value, key)) return null;
  const others = Object.keys(value).filter((key) => key !== "type" && key !== "name");
  const { known } = topFields(type);
  return others.length === 0 || others.some((key) => known.has(key)) ? null : "without a field of that kind";
}

const otherRequired = oncePer((type: string) => requiredFields(type).filter((key) => key !== "type" && key !== "name"));

// No other tool has fields of these names.
function lackedName(value: JsonObject): string | null {
  const isOurs = namingFields.some((field) => field !== "type" && Object.hasOwn(value, field));
  return isOurs ? null : "without a `name`";
}

/** A document of a type that is not managed. */
export function unknownType(type: string): Detected & { readonly is: "other" } {
  const isShown = /^[\w./-]{1,64}$/.test(type) && !isCredential(type);
  const summary = `${isShown ? `the type ${quoted(type)}` : "this type"} is not managed`;
  return other("unknown-type", summary, { type: isShown ? type : "other" });
}

// Many files have a `name`. Another required field of the type shows that the file is meant as a manifest.
function hasFieldsOf(value: JsonObject, type: string): boolean {
  return topFields(type).required.some((key) => key !== "name" && Object.hasOwn(value, key));
}

// Beside a field of another kind, a word that is similar to a type is a type of another tool.
function hasOnlyFieldsOf(value: JsonObject, type: string): boolean {
  const { known } = topFields(type);
  return Object.keys(value).every((key) => key === "type" || known.has(key));
}

// A sigil before the key is the envelope of another language: `_type`, `$type`, `@type`.
const SIGIL = /^[^\p{L}\p{N}\s]+/u;

// A key that is almost `type`, or `kind` as Kubernetes writes it, is meant as one only if its value is a kind, and
// fields of that kind are beside it.
function nearMiss(value: JsonObject): Detected | null {
  const keys = Object.keys(value).filter((key) => isNearType(key.replace(SIGIL, "")));
  if (keys.some((key) => SIGIL.test(key))) return null;
  if (typeof value.kind === "string" && !Object.hasOwn(value, "apiVersion")) keys.push("kind");
  for (const key of keys) {
    const word = value[key];
    if (typeof word !== "string") continue;
    const type = closestName(word, manifestTypes);
    if (type === undefined || !hasFieldsOf(value, type)) continue;
    return { is: "faulty", key, summary: `no \`type\`, but ${quoted(key)}`, detail: `Write \`type: ${type}\`.` };
  }
  return null;
}

const isNearType = (key: string) => closestName(key, ["type"]) !== undefined;

function untyped(value: JsonObject): Detected {
  const types = manifestTypes.filter((each) => looksLike(value, each));
  if (types.length === 0) {
    return setOfComponents(value) ?? other("not-a-manifest", "no manifest: it has no `type`", { detail: UNTYPED });
  }
  const [type] = types;
  // As Kubernetes writes it.
  if (typeof value.kind === "string") {
    const detail = `Write \`type: ${closestName(value.kind, types) ?? type}\`.`;
    return { is: "faulty", key: "kind", summary: "no `type`, but `kind`", detail };
  }
  const detail =
    types.length === 1
      ? `It looks like a ${type}: add \`type: ${type}\`.`
      : `It looks like a manifest: add its \`type\`, one of ${types.join(", ")}.`;
  return { is: "faulty", key: "", summary: "no `type`", detail };
}

function setOfComponents({ components }: JsonObject): Detected | null {
  if (!Array.isArray(components) || listHint(components) === null) return null;
  const detail =
    "Write `type: application-set` above, or each component as a document of its own, after a line of `---`.";
  return other("no-type", "no `type`, but `components` that look like manifests", { detail, mayBeOurs: true });
}

// Many files have a `name`. A field that the type does not have shows that the file is not a manifest.
function looksLike(value: JsonObject, type: string): boolean {
  const { required, known } = topFields(type);
  if (required.length < 2 || !required.every((key) => Object.hasOwn(value, key))) return false;
  return Object.keys(value).every((key) => known.has(key) || key === "kind");
}

type TopFields = { readonly required: readonly string[]; readonly known: ReadonlySet<string> };

const topFields = oncePer((type: string): TopFields => {
  const schema = schemaFor(type) ?? {};
  const own = unionVariants(schema, schema).find((variant) => variant.type === type)?.node ?? {};
  const required = (own.required ?? schema.required ?? []).filter((key) => key !== "type");
  return { required, known: new Set(Object.keys({ ...schema.properties, ...own.properties })) };
});
