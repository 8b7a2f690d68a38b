import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { duplicates, objectsOf, type Rule } from "../rule.ts";
import { error, type SchemaDiagnostic } from "../schema-diagnostic.ts";

/** Rules of secret groups. */
export const rules: readonly Rule[] = [keys, encrypted];

function keys({ secrets }: JsonObject): readonly SchemaDiagnostic[] {
  return duplicates(
    secrets,
    (index) => `/secrets/${index}/key`,
    ({ key }) => text(key),
    "key",
  );
}

function encrypted({ secrets }: JsonObject): readonly SchemaDiagnostic[] {
  return objectsOf(secrets).flatMap(({ item: { value }, index }) => {
    if (!isObject(value) || value.from !== "sops") return [];
    return ["file", "key"].flatMap((field) => {
      if (text(value[field]) !== undefined) return [];
      const message = `\`${field}\` is missing: \`from: sops\` names an encrypted file and a field of it`;
      return [error(`/secrets/${index}/value/${field}`, "missing-field", message)];
    });
  });
}
