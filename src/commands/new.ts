import { dirname, join, relative } from "node:path";
import type { JsonObject } from "../contract/json.ts";
import { HoldfastError } from "../core/errors.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { relativePath } from "../files/real-path.ts";
import { kindOf } from "../kinds/index.ts";
import { namingFields } from "../model/normal-form.ts";
import { jsonText, printable } from "../render/escape.ts";
import { manifestYaml, schemaComments } from "../render/manifest-yaml.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { EDITOR_SCHEMA_FILE, modeline } from "../schema/editor-schema.ts";
import { inFieldOrder } from "../schema/field-order.ts";
import { fullManifest, minimalManifest } from "../schema/sample-manifest.ts";
import { manifestTypes, schemaFor } from "../schema/schemas.ts";
import { validateManifest } from "../schema/validate.ts";
import { checkoutAt } from "../source/git/repository-paths.ts";
import { findSource } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { newManifest } from "./declarations/new.ts";
import { unknownKind } from "./input/named-kind.ts";
import { outputPath } from "./output/output-path.ts";
import { writeSharedFile } from "./output/write-outputs.ts";
import { say, writeResult } from "./terminal.ts";

/** Prints a manifest to begin with, or writes it to a new file. */
export async function run({ args, flags, terminal }: InvocationOf<typeof newManifest>): Promise<number> {
  const manifest = exampleOf(args[0] ?? "", flags.full ?? false);
  const { into } = flags;
  const path = into === undefined ? null : newFile(into, terminal.cwd);
  const isJson = into?.endsWith(".json") || stdoutFormat(flags.output) === "json";
  const schema = join(findSource({ cwd: terminal.cwd, source: flags.source }), EDITOR_SCHEMA_FILE);
  const text = isJson
    ? jsonText(manifest)
    : modeline(relativePath(path === null ? terminal.cwd : dirname(path), schema)) + commentedYaml(manifest);
  if (into === undefined || path === null) await writeResult(terminal, text);
  else {
    writeSharedFile(path, text, { what: "manifest", hint: "name a file in a folder that exists with --into" });
    say(terminal, `wrote ${into}: change what it says to what you want, then run holdfast validate`);
  }
  if (!isJson && lstatOrNull(schema) === null) {
    say(
      terminal,
      `editors check it once its schema is there: holdfast schema --into ${relative(terminal.cwd, schema)}`,
    );
  }
  return 0;
}

function exampleOf(named: string, isFull: boolean): JsonObject {
  const [type = "", ...rest] = named.split("/");
  const kind = kindOf(type);
  if (kind === undefined || !manifestTypes.includes(type)) throw unknownKind(type);
  const example = isFull ? fullManifest(type) : minimalManifest(type);
  const manifest = inFieldOrder(type, { ...example, ...(rest.length === 0 ? {} : namesIn(kind.key, rest.join("/"))) });
  const fault = validateManifest(type, manifest).find(({ severity }) => severity === "error");
  if (fault === undefined) return manifest;
  throw new HoldfastError("invalid", `${printable(named)} names no ${type}: ${fault.message}`, {
    hint: `write ${[...new Set([kind.key(PARTS), PARTS.name])].map((form) => `${type}/${form}`).join(" or ")}`,
  });
}

const PARTS = { name: "NAME", cluster_fqn: "CLUSTER", workspace_fqn: "CLUSTER:WORKSPACE", ml_repo: "REPO" };

/** The fields that a name consists of: all of those of an identity, or only the last one. */
function namesIn(key: (manifest: JsonObject) => string, name: string): JsonObject {
  const form = key(Object.fromEntries(namingFields.map((field) => [field, `<${field}>`])));
  const fields = Array.from(form.matchAll(/<(\w+)>/g), ([, field = ""]) => field);
  const values = new RegExp(`^${form.replaceAll(/<\w+>/g, "(.+)")}$`).exec(name)?.slice(1);
  if (values === undefined) return { name };
  return Object.fromEntries(fields.map((field, at) => [field, values[at] ?? ""]));
}

function newFile(into: string, cwd: string): string {
  const path = outputPath(into, { cwd, content: checkoutAt(cwd) });
  if (lstatOrNull(path) === null) return path;
  throw new HoldfastError("invalid", `${printable(into)} exists`, { hint: "name a new file with --into" });
}

function commentedYaml(manifest: JsonObject): string {
  const type = String(manifest.type);
  const more = `# More of it: holdfast explain ${type}, or holdfast new ${type} --full\n`;
  return more + manifestYaml(manifest, schemaComments(schemaFor(type) ?? {}, manifest));
}
