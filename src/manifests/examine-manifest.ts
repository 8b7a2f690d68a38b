import { shapes } from "../contract/generated/shapes.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer, pointerTokens } from "../contract/json-pointer.ts";
import { error, type SchemaDiagnostic as SchemaFault } from "../schema/schema-diagnostic.ts";
import { mayLackParts, secretReferenceForms } from "../schema/secret-reference-rule.ts";
import { validateManifest } from "../schema/validate.ts";
import { keyOrValue, type Wording, wordingOf } from "../source/file-diagnostic.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { type Fault, quoted } from "../yaml/fault.ts";
import { checkSpellings } from "./check-spellings.ts";
import { type Literal, literalSecrets } from "./literal-secrets.ts";
import type { FieldPlace, LocatePlace } from "./source-manifest.ts";

const NO_WORKSPACE =
  "For example: `workspace_fqn: prod-eu:ranking`. Or give all applications without one a default: --workspace, or " +
  "`defaults.workspace_fqn` in holdfast.yaml.";

/** A fault in a manifest, and its place. */
export type PositionedFault = Wording & { readonly position: FieldPlace };

type PlaceAt = (offset: number) => FieldPlace;

/** How faults of one document are located. */
export type Locating = { readonly locate: LocatePlace; readonly positionAt: PlaceAt };

/** Options of an examination. */
export type ExamineOptions = {
  readonly unknownFields: "refuse" | "warn";
  /** Whether the file may hold values in a known credential format. */
  readonly allowsSecrets: () => boolean;
};

// After these faults the value differs from what the author meant: faults found in it would be misleading.
const MISLEADING = new Set([
  "merge-key",
  "key",
  "unknown-anchor",
  "recursive-alias",
  "too-many-nodes",
  "too-many-keys",
  "too-deep",
  "too-large",
]);

/** The faults of one manifest by itself, and its fields that can be checked against other manifests. */
export type Examined = {
  readonly faults: readonly PositionedFault[];
  /** Its fields without an error; null if its text has an error, so that its meaning is unknown. */
  readonly fields: JsonObject | null;
};

/** Finds every fault of one manifest by itself. */
export function examineManifest(
  document: ParsedDocument,
  type: string,
  value: JsonObject,
  at: Locating,
  options: ExamineOptions,
): Examined {
  const syntax = document.faults.map((fault) => syntaxFault(fault, at.positionAt));
  const isMisleading = syntax.some(({ code }) => MISLEADING.has(code));
  const faults = isMisleading
    ? []
    : [...schemaFaults(document, type, value, options), ...referenceFaults(document, value)];
  const schema = faults.map((fault) => ({
    ...withRemedy(wordingOf(fault), fault.pointer),
    position: at.locate(fault.pointer, keyOrValue(fault)),
  }));
  const secrets = secretFaults(document, type, value, options);
  // A value that a syntax error replaced was already reported.
  const replaced = syntax.filter(({ severity }) => severity === "error");
  const fresh = schema.filter(({ position }) => !replaced.some((each) => isSame(each, position)));
  const positioned = secrets.map(({ pointer, isName, ...wording }) => {
    return { ...wording, position: at.locate(pointer, isName ? "key" : "value") };
  });
  const fields = replaced.length > 0 ? null : withoutFaulty(value, faults);
  return { faults: [...syntax.map((each) => withForm(each, schema)), ...fresh, ...positioned], fields };
}

// Only the schema knows whether a number may be written as a text, and be shown.
function withForm(fault: PositionedFault, bySchema: readonly PositionedFault[]): PositionedFault {
  const told = bySchema.find(({ code, position }) => code === "not-as-written" && isSame(fault, position));
  return told === undefined ? fault : { ...fault, detail: told.detail };
}

function referenceFaults({ chunk }: ParsedDocument, value: JsonObject): readonly SchemaFault[] {
  return mayLackParts(chunk.text) ? secretReferenceForms(value) : [];
}

// As SOPS writes a value, or `eyaml` for Hiera.
const ENCRYPTED = /^ENC\[([A-Z0-9_]+),/;
const DECRYPT = "Commit it as plain text, with secret://tenant:group:key in place of each secret.";

// A file that SOPS has written says so under `sops`; otherwise each encrypted value is told.
function encryptedFaults(value: JsonObject, text: string): readonly SchemaFault[] {
  if (isObject(value.sops)) return [encryptedFault("/sops", "this manifest is", "SOPS")];
  return text.includes("ENC[") ? encryptedIn(value, "") : [];
}

function encryptedIn(value: Json, pointer: string): readonly SchemaFault[] {
  if (typeof value === "string") {
    const by = ENCRYPTED.exec(value)?.[1];
    return by === undefined ? [] : [encryptedFault(pointer, "a value", by === "AES256_GCM" ? "SOPS" : "hiera-eyaml")];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => encryptedIn(field, `${pointer}/${escapePointer(name)}`));
}

function encryptedFault(pointer: string, what: string, by: string): SchemaFault {
  return error(pointer, "encrypted", `${what} encrypted with ${by}; Holdfast does not decrypt yet`, DECRYPT);
}

// A text that would arrive differently is described better by that than by its type.
function schemaFaults(
  { respellings, chunk }: ParsedDocument,
  type: string,
  value: JsonObject,
  { unknownFields }: ExamineOptions,
): readonly SchemaFault[] {
  const encrypted = encryptedFaults(value, chunk.text);
  if (encrypted.length > 0) return encrypted;
  const respelt = checkSpellings(type, value, respellings());
  const faults = validateManifest(type, value, unknownFields);
  if (respelt.length === 0) return faults;
  const places = new Set(respelt.map(({ pointer }) => pointer));
  return [...respelt, ...faults.filter(({ code, pointer }) => code !== "wrong-type" || !places.has(pointer))];
}

function withoutFaulty(value: JsonObject, faults: readonly SchemaFault[]): JsonObject {
  const errors = faults.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return value;
  const names = new Set(errors.map(({ pointer }) => pointerTokens(pointer)[0]));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

function syntaxFault({ severity, code, summary, detail, offset, other }: Fault, positionAt: PlaceAt): PositionedFault {
  const before = other === undefined ? "" : `The other one is in line ${positionAt(other).line}. `;
  const full = detail === null && before === "" ? null : `${before}${detail ?? ""}`.trimEnd();
  return { severity, code, summary, detail: full, position: positionAt(offset) };
}

function isSame({ position }: PositionedFault, { file, line, column }: FieldPlace): boolean {
  return position.line === line && position.column === column && position.file === file;
}

function secretFaults(
  { hasCredentials }: ParsedDocument,
  type: string,
  value: JsonObject,
  { allowsSecrets }: ExamineOptions,
): readonly (Wording & Pick<Literal, "pointer" | "isName">)[] {
  const shape = shapes[type];
  if (shape === undefined) return [];
  return literalSecrets(shape, value, hasCredentials, allowsSecrets).map(({ pointer, isName, is }) => {
    return { pointer, isName, ...(is === "credential" ? CREDENTIAL_FAULT : literalFault(pointer, is)) };
  });
}

const REFER = "Refer to a secret instead: secret://tenant:group:key.";

const CREDENTIAL_FAULT: Wording = {
  severity: "error",
  code: "literal-credential",
  summary: "a credential in plain text (not shown)",
  detail: `Everyone who can read the repository can read it: revoke it. ${REFER} If it is not a credential, list the file under \`allowLiteralSecrets\`.`,
};

function literalFault(pointer: string, is: "connection" | "secret-looking"): Wording {
  const what = is === "connection" ? "contains a password or key in plain text" : "looks like a secret in plain text";
  const summary = `${quoted(pointerTokens(pointer).at(-1) ?? "")} ${what}`;
  return { severity: "warning", code: "literal-secret", summary, detail: REFER };
}

// Some control planes have fields that our schemas lack.
function withRemedy(wording: Wording, pointer: string): Wording {
  if (wording.code === "missing-field" && pointer === "/workspace_fqn") return { ...wording, detail: NO_WORKSPACE };
  if (wording.code !== "unknown-field" || wording.severity !== "error") return wording;
  const remedy = "To send it all the same, set `unknownFields: warn` in holdfast.yaml.";
  return { ...wording, detail: wording.detail === null ? remedy : `${wording.detail} ${remedy}` };
}
