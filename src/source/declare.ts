import { shapes } from "../contract/generated/shapes.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { Kind } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import type { Fault as SchemaFault } from "../schema/fault.ts";
import { schemaFor } from "../schema/known.ts";
import { validateManifest } from "../schema/validate.ts";
import { claimsType, detect } from "./detect.ts";
import { type Findings, inFile } from "./findings.ts";
import type { Limits } from "./limits.ts";
import { literalSecrets } from "./literal.ts";
import { type Locate, locator } from "./locate.ts";
import { formatOf, type ParsedDocument, type ParsedFile, parseFile } from "./parse/document.ts";
import { type Fault, quoted } from "./parse/fault.ts";
import { lineFinder } from "./parse/lines.ts";
import { glimpse } from "./parse/text.ts";
import { fileDiagnostic, type SourceFile } from "./revision.ts";

/** A document that declares a resource of ours, sound or not. */
export type Declaration = {
  readonly kind: Kind;
  readonly type: string;
  /** Null when its manifest does not even tell what it would be called. */
  readonly identity: Identity | null;
  /** The part of the identity after the kind, without a version. */
  readonly key: string | null;
  readonly value: JsonObject;
  readonly file: SourceFile;
  readonly line: number;
  readonly locate: Locate;
  /** Whether it passed everything that can be told from it alone. */
  readonly isSound: boolean;
};

/** What one file contributes. */
export type FileContent = { readonly declarations: readonly Declaration[]; readonly unmanaged: number };

/** Rules and choices that reading a file needs. */
export type DeclareOptions = {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly limits: Limits;
  readonly unknownFields: "refuse" | "warn";
  /** Whether the file may hold values in a known credential format. */
  readonly allowsSecrets: (path: string) => boolean;
};

/** Reads the declarations of one file, reporting what is wrong in it. */
export function declare(file: SourceFile, options: DeclareOptions, found: Findings): FileContent {
  const { limits } = options;
  if (file.size > file.bytes.length && file.size > limits.fileBytes) {
    found.add(tooLarge(file, limits));
    return { declarations: [], unmanaged: 1 };
  }
  const parsed = parseFile(file.bytes, formatOf(file.path) ?? "yaml", limits);
  if (parsed.faults.length > 0) return unread(file, parsed, found);
  if (parsed.documents.length === 0)
    found.add(fileDiagnostic("warning", "empty", file.display, "an empty file: it declares nothing"));
  const reader = { file, options, found, positionAt: lineFinder(parsed.text), foreign: new Map<string, Foreign>() };
  const declarations = parsed.documents.flatMap((document) => readDocument(reader, document) ?? []);
  for (const each of reader.foreign.values()) found.add(foreignDiagnostic(file, each));
  return { declarations, unmanaged: parsed.documents.length - declarations.length };
}

type Foreign = {
  readonly code: string;
  readonly summary: string;
  readonly detail: string | null;
  readonly position: ReturnType<Locate>;
  count: number;
};

type Reader = {
  readonly file: SourceFile;
  readonly options: DeclareOptions;
  readonly found: Findings;
  readonly positionAt: (offset: number) => ReturnType<Locate>;
  /** What is not ours in the file, by what is said of it: ten like documents need one warning. */
  readonly foreign: Map<string, Foreign>;
};

function tooLarge(file: SourceFile, { fileBytes }: Limits) {
  const isOurs = claimsType(glimpse(file.bytes));
  const summary = `larger than ${fileBytes} bytes, and not read`;
  return fileDiagnostic(
    isOurs ? "error" : "warning",
    "too-large",
    file.display,
    summary,
    isOurs ? "Split the file." : "If it holds no manifests, list it in .holdfastignore.",
  );
}

// A file that is no text at all, or has a fault as a whole.
function unread(file: SourceFile, { text, faults }: ParsedFile, found: Findings): FileContent {
  const isOurs = claimsType(text === "" ? glimpse(file.bytes) : text);
  const positionAt = lineFinder(text);
  for (const fault of faults)
    found.add(inFile(file.display, isOurs ? fault : mild(fault), text === "" ? null : positionAt(fault.offset)));
  return { declarations: [], unmanaged: 1 };
}

function mild(fault: Fault): Fault {
  return { ...fault, severity: "warning", detail: "Passed over: it names no type of ours." };
}

function readDocument(reader: Reader, document: ParsedDocument): Declaration | null {
  const { file, found, options } = reader;
  const isUnreadable = document.value === null && document.faults.length > 0;
  if (isUnreadable) return readBroken(reader, document);
  const detected = detect(document.value);
  switch (detected.is) {
    case "foreign":
      noteForeign(reader, document, detected);
      return null;
    case "faulty": {
      const position =
        detected.key === ""
          ? reader.positionAt(document.offset)
          : locator(document, reader.positionAt)(`/${detected.key}`, "key");
      found.add(
        inFile(
          file.display,
          { severity: "error", code: "no-type", summary: detected.summary, detail: detected.detail },
          position,
        ),
      );
      return null;
    }
    case "manifest": {
      const kind = options.kindOf(detected.type);
      if (kind !== undefined && isObject(document.value))
        return readManifest(reader, document, kind, detected.type, document.value);
      noteForeign(reader, document, {
        code: "unknown-type",
        summary: `the type ${quoted(detected.type)} is not managed`,
        detail: null,
      });
      return null;
    }
  }
}

function noteForeign(
  { foreign, positionAt }: Reader,
  { offset }: ParsedDocument,
  said: Omit<Foreign, "position" | "count">,
): void {
  const known = foreign.get(said.summary);
  if (known) known.count++;
  else foreign.set(said.summary, { ...said, position: positionAt(offset), count: 1 });
}

function foreignDiagnostic(file: SourceFile, { code, summary, detail, position, count }: Foreign) {
  const all = count === 1 ? summary : `${summary} (${count} documents)`;
  return inFile(file.display, { severity: "warning", code, summary: all, detail }, position);
}

// What a broken document would have been called, so that what refers to it is blocked and not called undeclared.
function readBroken(reader: Reader, document: ParsedDocument): Declaration | null {
  const { file, found, positionAt, options } = reader;
  const isOurs = claimsType(document.text);
  for (const fault of isOurs ? document.faults : document.faults.slice(0, 1)) {
    found.add(inFile(file.display, isOurs ? fault : mild(fault), positionAt(fault.offset)));
  }
  const value = isOurs ? salvage(document.text) : {};
  const kind = typeof value.type === "string" ? options.kindOf(value.type) : undefined;
  if (kind === undefined || typeof value.type !== "string") return null;
  const locate: Locate = () => positionAt(document.offset);
  return {
    kind,
    type: value.type,
    ...named(kind, value.type, value),
    value,
    file,
    line: locate("").line,
    locate,
    isSound: false,
  };
}

const FIELD =
  /^["']?(type|name|cluster_fqn|workspace_fqn|ml_repo)["']?[ \t]*:[ \t]*["']?([\w.:@/-]{1,256})["']?[ \t]*,?[ \t]*(?:#.*)?\r?$/gm;

function salvage(text: string): JsonObject {
  return Object.fromEntries(Array.from(text.matchAll(FIELD), ([, key = "", value = ""]) => [key, value]));
}

// Faults after which the value is not what was meant, so that checking it would only mislead.
const MISLEADING = new Set([
  "merge-key",
  "key",
  "unknown-anchor",
  "recursive-alias",
  "too-many-nodes",
  "too-many-keys",
  "too-deep",
]);

function readManifest(
  reader: Reader,
  document: ParsedDocument,
  kind: Kind,
  type: string,
  value: JsonObject,
): Declaration {
  const { file, found, options, positionAt } = reader;
  const locate = locator(document, positionAt);
  const places = new Set<string>();
  const report = (fault: Omit<Fault, "offset">, position: ReturnType<Locate>) => {
    places.add(`${position.line}:${position.column}`);
    found.add(inFile(file.display, fault, position));
  };
  for (const fault of document.faults) report(fault, positionAt(fault.offset));
  const isMisleading = document.faults.some(({ code }) => MISLEADING.has(code));
  const faults = isMisleading ? [] : validateManifest(type, value, { unknownFields: options.unknownFields });
  for (const fault of faults) {
    const position = locate(fault.pointer, isAboutKey(fault) ? "key" : "value");
    // The value that a fault of form stands in for has been complained of already.
    if (!places.has(`${position.line}:${position.column}`) || document.faults.length === 0)
      report(worded(fault), position);
  }
  const literals = secretFaults(type, value, options.allowsSecrets(file.path));
  for (const { pointer, ...fault } of literals) report(fault, locate(pointer));
  const all = [...document.faults, ...faults, ...literals];
  const isSound = !all.some(({ severity }) => severity === "error");
  return {
    kind,
    type,
    ...named(kind, type, value),
    value,
    file,
    line: positionAt(document.offset).line,
    locate,
    isSound,
  };
}

const isAboutKey = ({ code }: SchemaFault) => code === "unknown-field" || code === "missing-field";

/** A schema's fault as a fault of the file. */
export function worded({ severity, code, message, pointer }: SchemaFault): Omit<Fault, "offset"> {
  const isDeep = pointer.lastIndexOf("/") > 0;
  return { severity, code, summary: message, detail: isDeep ? `At ${quoted(pointer)}.` : null };
}

type PlacedFault = Omit<Fault, "offset"> & { readonly pointer: string };

function secretFaults(type: string, value: JsonObject, isAllowed: boolean): readonly PlacedFault[] {
  const shape = shapes[type];
  if (shape === undefined) return [];
  return literalSecrets(shape, value)
    .filter(({ is }) => is !== "credential" || !isAllowed)
    .map(({ pointer, is }) => (is === "credential" ? credentialFault(pointer) : literalFault(pointer)));
}

function credentialFault(pointer: string): PlacedFault {
  const detail = `${REVOKE} If it is none, list the file under \`allowLiteralSecrets\`.`;
  return {
    pointer,
    severity: "error",
    code: "literal-credential",
    summary: "a credential in the manifest (it is not shown)",
    detail,
  };
}

function literalFault(pointer: string): PlacedFault {
  const summary = `${quoted(pointer.slice(pointer.lastIndexOf("/") + 1))} looks like a secret written out`;
  return { pointer, severity: "warning", code: "literal-secret", summary, detail: REFER };
}

const REFER = "Refer to a secret instead: secret://tenant:group:key.";
const REVOKE = `Whoever can read the repository has it: revoke it. ${REFER}`;

// Without the fields that its key is made of, a manifest has no identity.
function named(kind: Kind, type: string, value: JsonObject): Pick<Declaration, "identity" | "key"> {
  const required = (schemaFor(type)?.required ?? []).filter((field) => KEY_FIELDS.has(field));
  const isNamed = ["name", ...required].every((field) => isFilled(value[field]));
  if (!isNamed) return { identity: null, key: null };
  const key = kind.key(value);
  const { version } = value;
  const suffix = kind.versions !== undefined && Number.isInteger(version) ? `@${version}` : "";
  return { key, identity: `${kind.type}/${key}${suffix}` };
}

const KEY_FIELDS = new Set(["cluster_fqn", "workspace_fqn", "ml_repo"]);

const isFilled = (value: Json | undefined) => typeof value === "string" && value !== "";
