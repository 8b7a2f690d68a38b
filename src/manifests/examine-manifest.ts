import { shapes } from "../contract/generated/shapes.ts";
import type { JsonObject } from "../contract/json.ts";
import { pointerTokens } from "../contract/json-pointer.ts";
import type { Position } from "../model/position.ts";
import type { SchemaDiagnostic as SchemaFault } from "../schema/schema-diagnostic.ts";
import { validateManifest } from "../schema/validate.ts";
import { keyOrValue, type Wording, wordingOf } from "../source/file-diagnostic.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import { type Fault, quoted } from "../yaml/fault.ts";
import type { Locate } from "../yaml/locator.ts";
import { literalSecrets } from "./literal-secrets.ts";

const NO_WORKSPACE =
  "For example: `workspace_fqn: prod-eu:ranking`. Or give all applications without one a default: --workspace, or " +
  "`defaults.workspace_fqn` in holdfast.yaml.";

/** Something wrong with a manifest, and where. */
export type PositionedFault = Wording & { readonly position: Position };

type PositionAt = (offset: number) => Position;

/** Choices of an examination. */
export type ExamineOptions = {
  readonly unknownFields: "refuse" | "warn";
  /** Whether the file may hold values in a known credential format. */
  readonly allowsSecrets: boolean;
};

// Faults after which the value is not what was meant, so that checking it would only mislead.
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

/** What is wrong with one manifest by itself, and what of it can be checked against others. */
export type Examined = {
  readonly faults: readonly PositionedFault[];
  /** Its fields without an error; null where its text has one, so that nobody knows what was meant. */
  readonly fields: JsonObject | null;
};

/** Everything that is wrong with one manifest by itself. */
export function examineManifest(
  document: ParsedDocument,
  type: string,
  value: JsonObject,
  at: { readonly locate: Locate; readonly positionAt: PositionAt },
  options: ExamineOptions,
): Examined {
  const form = document.faults.map((fault) => formFault(fault, at.positionAt));
  const isMisleading = form.some(({ code }) => MISLEADING.has(code));
  const faults = isMisleading ? [] : validateManifest(type, value, { unknownFields: options.unknownFields });
  const schema = faults.map((fault) => ({
    ...withWayOut(wordingOf(fault), fault.pointer),
    position: at.locate(fault.pointer, keyOrValue(fault)),
  }));
  const secrets = secretFaults(type, value, document.hasCredentials && !options.allowsSecrets);
  // The value that a fault of form left behind has been complained of already.
  const replaced = form.filter(({ severity }) => severity === "error");
  const fresh = schema.filter(({ position }) => !replaced.some((each) => isSame(each, position)));
  const told = secrets.map(({ pointer, ...said }) => ({ ...said, position: at.locate(pointer) }));
  const fields = replaced.length > 0 ? null : withoutFaulty(value, faults);
  return { faults: [...form, ...fresh, ...told], fields };
}

function withoutFaulty(value: JsonObject, faults: readonly SchemaFault[]): JsonObject {
  const errors = faults.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return value;
  const names = new Set(errors.map(({ pointer }) => pointerTokens(pointer)[0]));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

function formFault({ severity, code, summary, detail, offset, other }: Fault, positionAt: PositionAt): PositionedFault {
  const before = other === undefined ? "" : `The other one is in line ${positionAt(other).line}. `;
  const told = detail === null && before === "" ? null : `${before}${detail ?? ""}`.trimEnd();
  return { severity, code, summary, detail: told, position: positionAt(offset) };
}

function isSame({ position }: PositionedFault, { line, column }: Position): boolean {
  return position.line === line && position.column === column;
}

type AtPointer = Wording & { readonly pointer: string };

function secretFaults(type: string, value: JsonObject, wantsCredentials: boolean): readonly AtPointer[] {
  const shape = shapes[type];
  if (shape === undefined) return [];
  return literalSecrets(shape, value, wantsCredentials).map(({ pointer, is }) =>
    is === "credential" ? credentialFault(pointer) : literalFault(pointer),
  );
}

const REFER = "Refer to a secret instead: secret://tenant:group:key.";

function credentialFault(pointer: string): AtPointer {
  const detail = `Whoever can read the repository has it: revoke it. ${REFER} If it is none, list the file under \`allowLiteralSecrets\`.`;
  return {
    pointer,
    severity: "error",
    code: "literal-credential",
    summary: "a credential written out (not shown)",
    detail,
  };
}

function literalFault(pointer: string): AtPointer {
  const summary = `${quoted(pointer.slice(pointer.lastIndexOf("/") + 1))} looks like a secret written out`;
  return { pointer, severity: "warning", code: "literal-secret", summary, detail: REFER };
}

// Some control planes know fields that our schemas do not.
function withWayOut(saying: Wording, pointer: string): Wording {
  if (saying.code === "missing-field" && pointer === "/workspace_fqn") return { ...saying, detail: NO_WORKSPACE };
  if (saying.code !== "unknown-field" || saying.severity !== "error") return saying;
  const wayOut = "To send it all the same, set `unknownFields: warn` in holdfast.yaml.";
  return { ...saying, detail: saying.detail === null ? wayOut : `${saying.detail} ${wayOut}` };
}
