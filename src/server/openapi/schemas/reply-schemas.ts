import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Schema, Schemas } from "./json-schema.ts";

const folder = join(import.meta.dirname, "../../../../schemas/components");

/** The schemas of resources in replies, from `schemas/components`. */
export const replySchemas: Schemas = Object.fromEntries(
  readdirSync(folder)
    .toSorted()
    .map((file) => [basename(file, ".json"), readComponent(join(folder, file))]),
);

function readComponent(path: string): Schema {
  return JSON.parse(readFileSync(path, "utf8")) as Schema;
}
