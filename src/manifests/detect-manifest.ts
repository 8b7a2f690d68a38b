import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { isCredential } from "../model/credential.ts";
import { oncePer } from "../model/once.ts";
import { closestName } from "../schema/closest-name.ts";
import { unionVariants } from "../schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../schema/schemas.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { quoted } from "../yaml/fault.ts";

/**
 * What a document is: a manifest of a managed type, a foreign document, a report of ours, or a manifest with a wrong
 * type.
 */
export type Detected =
  | { readonly is: "manifest"; readonly type: string }
  | {
      readonly is: "foreign";
      readonly code: string;
      readonly summary: string;
      readonly detail: string | null;
      /** The type that it names, safe to show; null if it names none. */
      readonly type: string | null;
      /** Whether it may be meant as a manifest, which gets its own warning. */
      readonly mayBeOurs: boolean;
    }
  /** Written by one of our commands, such as a saved plan. */
  | { readonly is: "report" }
  | { readonly is: "faulty"; readonly key: string; readonly summary: string; readonly detail: string };

const UNTYPED =
  "Skipped. List files that are not manifests in .holdfastignore; " +
  `the \`type\` of a manifest is one of ${manifestTypes.toSorted().join(", ")}.`;

/** The detail of a diagnostic about a document or file that cannot be parsed and names no manifest type. */
export const SKIPPED = "Skipped: it names no manifest type. List files that are not manifests in .holdfastignore.";

// By its `type`; if that is missing, by its fields.
function detectManifest(value: Json): Detected {
  if (value === null) return foreign("empty", "an empty document");
  if (Array.isArray(value)) {
    const hint = listHint(value);
    const code = hint === null ? "not-a-manifest" : "list-of-manifests";
    return foreign(code, "no manifest: a list, not a mapping", { detail: hint, mayBeOurs: hint !== null });
  }
  if (!isObject(value)) return foreign("not-a-manifest", "no manifest: a single value, not a mapping");
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
  if (value !== null || first === undefined) return detectManifest(value);
  // A saved plan may exceed the limits of a manifest.
  if (isPlanText(chunk.text)) return { is: "report" };
  return claims(chunk.text) ? { is: "broken" } : foreign(first.code, first.summary, { detail: SKIPPED });
}

/**
 * Whether a text that cannot be parsed names a manifest type. Only then do its faults count, since most files of a
 * repository are not manifests (templates, lock files, workflows).
 */
export function claimsType(text: string): boolean {
  return claim.test(text);
}

/** Whether a text begins like a saved plan. */
export function isPlanText(text: string): boolean {
  return /^\{\s{1,8}"format_version": "[12]\.\d+",\s{1,8}"revision":/.test(text);
}

/** A pattern for a text in which a key, given as a pattern, has one of these types as its value. */
export function claimOf(types: readonly string[], key = "type"): RegExp {
  return new RegExp(`(?:^|[\\s,{"'-])${key}["']?[ \\t]*:[ \\t]*["']?(?:${types.join("|")})(?![\\w-])`);
}

const claim = claimOf(manifestTypes);

/**
 * Matches a text that is not plain YAML and may be a manifest: a managed type under `type` or a misspelt key, or any
 * type at the top level. Other texts are skipped without being parsed.
 */
export const worthReading: RegExp = new RegExp(
  `${claimOf(manifestTypes, "\\w{3,6}").source}|^["']?type["']?[ \\t]*:`,
  "m",
);

function foreign(
  code: string,
  summary: string,
  more: { readonly detail?: string | null; readonly type?: string; readonly mayBeOurs?: boolean } = {},
): Detected & { readonly is: "foreign" } {
  return { is: "foreign", code, summary, detail: null, type: null, mayBeOurs: false, ...more };
}

function listHint(items: readonly Json[]): string | null {
  const isOurs = items.some(
    (item) => isObject(item) && typeof item.type === "string" && manifestTypes.includes(item.type),
  );
  return isOurs ? "Its items look like manifests: write each as a document of its own, after a line of `---`." : null;
}

function typed(type: string, value: JsonObject): Detected {
  if (manifestTypes.includes(type)) return { is: "manifest", type };
  const near = closestName(type, manifestTypes);
  if (near !== undefined && hasFieldsOf(value, near)) {
    const detail = `Write \`type: ${near}\`.`;
    return { is: "faulty", key: "type", summary: "an unknown `type`", detail };
  }
  if (near === undefined) return unknownType(type);
  return { ...unknownType(type), detail: `Did you mean \`${near}\`?`, mayBeOurs: true };
}

/** A document of a type that is not managed. */
export function unknownType(type: string): Detected & { readonly is: "foreign" } {
  const isShown = /^[\w./-]{1,64}$/.test(type) && !isCredential(type);
  const summary = `${isShown ? `the type ${quoted(type)}` : "this type"} is not managed`;
  return foreign("unknown-type", summary, { type: isShown ? type : "other" });
}

// Many files have a `name`. Another required field of the type shows that the file is meant as a manifest.
function hasFieldsOf(value: JsonObject, type: string): boolean {
  return topFields(type).required.some((key) => key !== "name" && Object.hasOwn(value, key));
}

// `types: ./index.d.ts` is not a typo, `tpye: service` is: the value decides.
function nearMiss(value: JsonObject): Detected | null {
  for (const [key, field] of Object.entries(value)) {
    const words = Array.isArray(field) ? field : [field];
    const names = words.filter((word) => typeof word === "string").map((word) => closestName(word, manifestTypes));
    const type = names.find((name) => name !== undefined);
    if (type === undefined || closestName(key, ["type"]) === undefined) continue;
    const summary = key === "type" ? "`type` is not a text" : `no \`type\`, but ${quoted(key)}`;
    return { is: "faulty", key, summary, detail: `Write \`type: ${type}\`.` };
  }
  return null;
}

function untyped(value: JsonObject): Detected {
  const types = manifestTypes.filter((each) => looksLike(value, each));
  if (types.length === 0) return foreign("not-a-manifest", "no manifest: it has no `type`", { detail: UNTYPED });
  const [type] = types;
  const detail =
    types.length === 1
      ? `It looks like a ${type}: add \`type: ${type}\`.`
      : `It looks like a manifest: add its \`type\`, one of ${types.join(", ")}.`;
  return { is: "faulty", key: "", summary: "no `type`", detail };
}

// Many files have a `name`. A field that the type does not have shows that the file is not a manifest.
function looksLike(value: JsonObject, type: string): boolean {
  const { required, known } = topFields(type);
  if (required.length < 2 || !required.every((key) => Object.hasOwn(value, key))) return false;
  return Object.keys(value).every((key) => known.has(key));
}

type TopFields = { readonly required: readonly string[]; readonly known: ReadonlySet<string> };

const topFields = oncePer((type: string): TopFields => {
  const schema = schemaFor(type) ?? {};
  const own = unionVariants(schema, schema).find((variant) => variant.type === type)?.node ?? {};
  const required = (own.required ?? schema.required ?? []).filter((key) => key !== "type");
  return { required, known: new Set(Object.keys({ ...schema.properties, ...own.properties })) };
});
