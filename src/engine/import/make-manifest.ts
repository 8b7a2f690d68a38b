// src/engine/import: files made of what is live. See docs/import.md#the-files.

import { posix } from "node:path";
import type { ImportedResource } from "../../contract/generated/output.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { declaredForms } from "../../core/diff/declared-form.ts";
import { redactPointer } from "../../core/diff/pointer.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { valuesIn } from "../../core/referenced-values.ts";
import type { ImportedFile } from "../../core/report/events.ts";
import { type Literal, literalSecrets } from "../../manifests/literal-secrets.ts";
import { modeline } from "../../schema/editor-schema.ts";
import { inFieldOrder } from "../../schema/field-order.ts";
import type { SchemaDiagnostic } from "../../schema/schema-diagnostic.ts";
import { validateManifest } from "../../schema/validate.ts";
import { wordingOf } from "../../source/file-diagnostic.ts";
import { yamlText } from "../../yaml/write-yaml.ts";

/** A live resource: of a kind with versions, its newest one. */
export type LiveResource = { readonly identity: Identity; readonly kind: Kind; readonly row: LiveRow };

/** How manifests are made. */
export type Making = {
  /** Relative to the folder of the import. */
  readonly path: string;
  /** The JSON Schema for editors, relative to the same folder. */
  readonly schema: string;
  readonly unknownFields: "refuse" | "warn";
  /** Whether the file may hold values in a known credential format. */
  readonly allowsSecrets: boolean;
};

/** The file that declares a live resource, or why there can be none. */
export function makeManifest(live: LiveResource, { path, schema, ...rules }: Making): ImportedFile | ImportedResource {
  const { identity, kind, row } = live;
  const type = text(row.manifest.type) ?? kind.type;
  if (row.disabledAt !== undefined) return skipped(live, "disabled", `since ${row.disabledAt}`);
  if (valuesIn(kind, row.manifest).length > 0) {
    return skipped(
      live,
      "not-declarable",
      "live does not show its values: declare it by hand, and name where each one is",
    );
  }
  const secrets = literalSecrets(kind.shape, row.manifest, true, () => rules.allowsSecrets);
  if (secrets.length > 0) return skippedFor(secrets, live);
  let faults: readonly SchemaDiagnostic[] | null = null;
  for (const form of declaredForms(kind, row.manifest)) {
    if (kind.key(form) !== splitIdentity(identity).key) break;
    faults = validateManifest(type, form, rules.unknownFields).filter(({ severity }) => severity === "error");
    if (faults.length === 0) return { identity, kind: kind.type, path, text: textOf(type, form, { path, schema }) };
  }
  if (faults === null) return skipped(live, "not-declarable", "its manifest does not have the fields of its name");
  const found = faults.map((fault) => `${redactPointer(fault.pointer)}: ${wordingOf(fault).summary}`);
  return skipped(live, "invalid", found.slice(0, LISTED).join("; "));
}

const LISTED = 3;

function textOf(type: string, manifest: JsonObject, { path, schema }: Pick<Making, "path" | "schema">): string {
  return modeline(posix.relative(posix.dirname(path), schema)) + yamlText(inFieldOrder(type, manifest));
}

/** A resource with secrets in plain text, which belong into no file. */
export function skippedFor(
  secrets: readonly Literal[],
  live: Pick<LiveResource, "identity" | "kind">,
): ImportedResource {
  const fields = secrets.map(({ pointer }) => redactPointer(pointer)).join(", ");
  return skipped(live, "literal-secret", `${fields}: put it into a secret, and refer to it`);
}

/** A resource of which no manifest is made. */
export function skipped(
  { identity, kind }: Pick<LiveResource, "identity" | "kind">,
  why: NonNullable<ImportedResource["why"]>,
  detail: string,
): ImportedResource {
  return { identity, kind: kind.type, file: null, result: "skipped", why, detail };
}
