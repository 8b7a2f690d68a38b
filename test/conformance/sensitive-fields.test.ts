import { describe, expect, test } from "vitest";
import { isSecretKey } from "../../src/model/sensitive-fields.ts";
import { type SchemaNode, schemaFields } from "../../src/schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../../src/schema/schemas.ts";

/** Whether a field of that name and form can hold a secret's value: a text, or a map of texts. */
function holdsSecret(name: string, node: SchemaNode): boolean {
  const isText = [node.type].flat().includes("string") && node.const === undefined && node.enum === undefined;
  const isMap = node["x-as-text"] === true || node["x-free"] === true;
  return (isText && isSecretKey(name)) || (isMap && (isSecretKey(name) || /headers(?:_|$)/.test(name)));
}

function unmarkedIn(type: string): readonly string[] {
  const fields = schemaFields(schemaFor(type) ?? {});
  return fields.flatMap(({ path, node }) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    return holdsSecret(name, node) && node["x-sensitive"] === undefined ? [`${type}: ${path}`] : [];
  });
}

/** What is named like a secret, and says only where one is. */
const harmless: readonly string[] = ["virtual-account: token_type"];

describe("fields that hold secrets", () => {
  test("are found by their names", () => {
    const text = { type: ["string", "null"] } as const;
    expect(["password", "aws_secret_access_key", "aws_session_token"].every((name) => holdsSecret(name, text))).toBe(
      true,
    );
    expect(holdsSecret("headers", { type: "object", "x-as-text": true })).toBe(true);
    expect(["password_secret_fqn", "secret_path", "max_tokens"].some((name) => holdsSecret(name, text))).toBe(false);
  });

  test("are marked in every schema", () => {
    expect(manifestTypes.flatMap(unmarkedIn)).toEqual(harmless);
  });
});
