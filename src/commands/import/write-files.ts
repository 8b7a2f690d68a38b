// src/commands/import: the files that an import writes. See docs/import.md.

import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { ImportReport } from "../../contract/generated/output.ts";
import { isObject, type Json, text } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import { type Identity, splitVersion } from "../../core/manifest.ts";
import type { ImportedFile } from "../../core/report/events.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readGivenFile, readGivenText } from "../../files/read-given-file.ts";
import { requireRegularFile } from "../../files/read-own-file.ts";
import { isAtOrBelow, realPathOutside } from "../../files/real-path.ts";
import { makeFolders, removeDrafts, replaceFile } from "../../files/write-file.ts";
import { kindOf } from "../../kinds/index.ts";
import { nameOf } from "../../manifests/declaration.ts";
import { worthReading } from "../../manifests/detect-manifest.ts";
import { EDITOR_SCHEMA_FILE, editorSchemaText } from "../../schema/editor-schema.ts";
import { defaultLimits } from "../../source/limits.ts";
import { formatOf } from "../../yaml/document.ts";
import { ExactProcess, readYaml } from "../../yaml/read-yaml.ts";

/** Files by what stands in their places. */
export type PlacedFiles = {
  readonly absent: readonly ImportedFile[];
  readonly same: readonly ImportedFile[];
  readonly other: readonly ImportedFile[];
};

/** Looks at the places of files in a folder; no link may lead out of it. */
export function placeFiles(folder: string, files: readonly ImportedFile[]): PlacedFiles {
  const folders = new Set(files.map(({ path }) => posix.dirname(path)));
  for (const each of folders) realPathOutside(folder, join(folder, each));
  const {
    absent = [],
    same = [],
    other = [],
  } = Object.groupBy(files, ({ path, text }) => {
    const place = join(folder, path);
    const found = lstatOrNull(place);
    if (found === null) return "absent";
    requireRegularFile(place, found);
    return found.size < MOST_BYTES && readGivenFile(place, MOST_BYTES).toString() === text ? "same" : "other";
  });
  return { absent, same, other };
}

/** No manifest is larger. */
export const MOST_BYTES = 16 * 1024 * 1024;

/** Refuses to overwrite a file that declares something else, such as one that was imported under the same path before. */
export async function requireNoOther(folder: string, files: readonly ImportedFile[]): Promise<void> {
  await using exact = new ExactProcess();
  for (const { path, identity } of files) {
    const options = { format: formatOf(path) ?? "yaml", limits: defaultLimits, worthy: worthReading };
    const { documents } = await readYaml(readGivenFile(join(folder, path), MOST_BYTES), options, exact);
    const other = documents.map(({ value }) => declaredBy(value)).find((one) => one !== null && one !== identity);
    if (other === undefined || other === null) continue;
    throw new HoldfastError("refused", `${path} would be the file of ${identity}, and declares ${other}`, {
      hint: "nothing was written; import into another folder, or leave one of them out with --exclude",
    });
  }
}

function declaredBy(value: Json): Identity | null {
  const type = isObject(value) ? text(value.type) : undefined;
  const kind = type === undefined ? undefined : kindOf(type);
  if (!isObject(value) || type === undefined || kind === undefined) return null;
  const { identity } = nameOf(kind, type, value);
  return identity === null ? null : splitVersion(identity).name;
}

/** Writes files into a folder, each of them whole or not at all. */
export function writeFiles(folder: string, files: readonly ImportedFile[]): void {
  for (const each of new Set(files.map(({ path }) => posix.dirname(path)))) {
    const place = join(folder, each);
    reportingFailure(place, () => makeFolders(place));
  }
  removeDrafts(files.map(({ path }) => join(folder, path)));
  for (const { path, text } of files) writeManifestFile(join(folder, path), text);
}

/** Writes a file of the source, whole or not at all. */
export function writeManifestFile(place: string, text: string): void {
  reportingFailure(place, () => replaceFile(place, text, { isShared: true }));
}

/** Writes, or ends the command with the place that cannot be written. */
export function reportingFailure(place: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && "syscall" in cause)) throw cause;
    throw new HoldfastError("invalid", `${place} cannot be written (${cause.code})`, {
      hint: "what was written before it is whole; run the command again when this is corrected",
      cause,
    });
  }
}

/** The beginning of a report about resources. */
export function summaryOf(resources: ImportReport["resources"]): Pick<ImportReport, "format_version" | "summary"> {
  const summary = { written: 0, updated: 0, unchanged: 0, differs: 0, skipped: 0 };
  for (const { result } of resources) summary[result] += 1;
  return { format_version: FORMAT_VERSION, summary };
}

/** The file with the JSON Schema for editors: in the folder, or in the nearest one above it within the source. */
export function schemaPlace(folder: string, content: string | null): string {
  for (let at = folder; content !== null && isAtOrBelow(content, at); at = dirname(at)) {
    if (existsSync(join(at, EDITOR_SCHEMA_FILE)) || at === dirname(at)) return join(at, EDITOR_SCHEMA_FILE);
  }
  return join(folder, EDITOR_SCHEMA_FILE);
}

/** Writes that file, unless it is current. */
export function writeSchema(place: string): void {
  const text = editorSchemaText();
  const found = lstatOrNull(place);
  if (found !== null) requireRegularFile(place, found);
  if (found !== null && readGivenText(place) === text) return;
  reportingFailure(dirname(place), () => makeFolders(dirname(place)));
  removeDrafts([place]);
  writeManifestFile(place, text);
}
