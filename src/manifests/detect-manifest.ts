import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { isCredential } from "../model/credential.ts";
import { oncePer } from "../model/once.ts";
import { closestName } from "../schema/closest-name.ts";
import { unionVariants } from "../schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../schema/schemas.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { quoted } from "../yaml/fault.ts";

/** What a document is to us: a manifest of one of our types, somebody else's, or a manifest that does not say so. */
export type Detected =
  | { readonly is: "manifest"; readonly type: string }
  | {
      readonly is: "foreign";
      readonly code: string;
      readonly summary: string;
      readonly detail: string | null;
      /** The type that is named, in words that can be shown; null where none is. */
      readonly type: string | null;
      /** Whether it may be meant as a manifest, and so deserves a warning of its own. */
      readonly mayBeOurs: boolean;
    }
  /** What a command of ours wrote: a plan that was kept, say. */
  | { readonly is: "report" }
  | { readonly is: "faulty"; readonly key: string; readonly summary: string; readonly detail: string };

const UNTYPED =
  "Passed over. What is not ours can be listed in .holdfastignore; " +
  `the \`type\` of a manifest is one of ${manifestTypes.toSorted().join(", ")}.`;

/** What a document, or a file, that cannot be read and names no type of ours is told. */
export const PASSED_OVER = "Passed over: it names no type of ours. What is not ours can be listed in .holdfastignore.";

// By its `type`, and by what it looks like where that is missing.
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

/** What a document is, also where it could not be read: `broken` is what names a type that is claimed. */
export function detectDocument(
  { value, faults, chunk }: ParsedDocument,
  claims: (text: string) => boolean = claimsType,
): Detected | { readonly is: "broken" } {
  const [first] = faults;
  if (value !== null || first === undefined) return detectManifest(value);
  // Of what a command of ours wrote, with more manifests in it than a manifest may hold.
  if (isPlanText(chunk.text)) return { is: "report" };
  return claims(chunk.text) ? { is: "broken" } : foreign(first.code, first.summary, { detail: PASSED_OVER });
}

/**
 * Whether a text that cannot be read names a type of ours: only then do its faults count, since most of what a
 * repository holds is not ours (templates, lock files, workflows).
 */
export function claimsType(text: string): boolean {
  return claim.test(text);
}

/** Whether a text begins as what `plan` writes, whatever the manifests that it shows. */
export function isPlanText(text: string): boolean {
  return /^\{\s{1,8}"format_version": "[12]\.\d+",\s{1,8}"revision":/.test(text);
}

/** Matches a text in which a key, the one that is given or one that matches it, names one of these types. */
export function claimOf(types: readonly string[], key = "type"): RegExp {
  return new RegExp(`(?:^|[\\s,{"'-])${key}["']?[ \\t]*:[ \\t]*["']?(?:${types.join("|")})(?![\\w-])`);
}

const claim = claimOf(manifestTypes);

/**
 * What a text that is not plain YAML matches where it may be meant as a manifest: a type of ours under this key or a
 * misspelt one, or any type at all at the top. Every other one is passed over unread.
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

// A name alone is in many files; another field that the kind must have says that the file is meant.
function hasFieldsOf(value: JsonObject, type: string): boolean {
  return topFields(type).required.some((key) => key !== "name" && Object.hasOwn(value, key));
}

// `types: ./index.d.ts` is no slip; `tpye: service` is one. What the value says tells them apart.
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
      : `It looks like one of ours: add its \`type\`, one of ${types.join(", ")}.`;
  return { is: "faulty", key: "", summary: "no `type`", detail };
}

// A name alone is in many files. A field that the type does not have says that the file is somebody else's.
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
