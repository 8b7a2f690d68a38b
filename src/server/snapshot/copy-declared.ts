import type { Transaction } from "kysely";
import { type JsonObject, text } from "../../contract/json.ts";
import { type Context, timestamp } from "../context.ts";
import { toText } from "../database/json-text.ts";
import type { Tables } from "../database/tables.ts";
import type { DeclaredKind } from "../manifest/put-declared.ts";
import { readRowFields } from "./read-row.ts";
import { type CopyOutcome, notCopied } from "./snapshot-part.ts";

/** Copies resources of a declared kind; `naming` are the fields that form its name. */
export function copyDeclared<Resource extends { readonly manifest: JsonObject }>(
  kind: DeclaredKind<Resource>,
  naming: readonly string[] = ["name"],
) {
  return async (transaction: Transaction<Tables>, row: JsonObject, context: Context): Promise<CopyOutcome> => {
    const { id, manifest, ...facts } = readRowFields(row, timestamp(context));
    const { type } = manifest;
    if (typeof type !== "string" || !kind.types.includes(type)) return notCopied("it has no manifest of its kind");
    if (!naming.every((field) => text(manifest[field]))) return notCopied("its manifest lacks its name");
    if ((await kind.find(transaction, manifest)) !== null) return { result: "exists" };
    const resource = kind.make({ manifest, existing: null, ...facts }, () => id ?? context.newId());
    await kind.save(transaction, resource, toText(resource), null);
    return { result: "copied", resource: kind.identity(manifest) };
  };
}
