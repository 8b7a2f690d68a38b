import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { JSON_SCHEMA, load } from "js-yaml";
import { isObject, type JsonObject } from "../../src/contract/json.ts";
import { validatorFor } from "../../src/schema/schemas.ts";

/** Every manifest file of a folder. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => join(folder, name));
}

/** The least that reading a manifest takes: bytes, js-yaml, the precompiled validator. */
export function readManifest(file: string): JsonObject {
  const value: unknown = load(readFileSync(file, "utf8"), { schema: JSON_SCHEMA });
  if (!isObject(value) || validatorFor(String(value.type))?.(value) !== true) throw new Error(`${file} is not valid`);
  return value;
}

/** What tells the corpus' manifests apart; their names are unique in their type. */
export function keyOf({ type, name }: JsonObject): string {
  return `${type}/${name}`;
}
