import { readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareText, isObject, type Json } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { isAtOrBelow } from "../files/real-path.ts";
import { globMatcher, hasWildcard } from "../model/glob.ts";
import { type Locate, lineFinder, locator } from "../yaml/locator.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { diagnosticInFile, fileDiagnostic } from "./file-diagnostic.ts";
import { readFileAt } from "./git/read-commit.ts";
import { readInPlace } from "./git/read-in-place.ts";
import type { Repository } from "./git/repository-paths.ts";
import { listTree } from "./git/tree.ts";
import { defaultLimits } from "./limits.ts";
import type { Pace } from "./pacer.ts";
import { readRegularFile } from "./read-regular-file.ts";

/** A folder or an item of a list that a pattern of targets found, with where it stands. */
export type PatternItem = {
  /** The text for each placeholder. */
  readonly values: { readonly [placeholder: string]: string };
  /** The folder, relative to the root of the source; null for an item of a list. */
  readonly folder: string | null;
  /** The folder or the list, for messages. */
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
};

/** What a pattern of targets is looked up in: a folder, or a commit of a bare repository of ours. */
export type PatternPlace =
  | { readonly is: "folder"; readonly root: string }
  | { readonly is: "commit"; readonly repository: Repository; readonly commit: string };

/** A glob over folders of the source, or the path of a list in it. */
export type EachOf = string | { readonly file: string };

/** What a pattern found; its faults are empty if it is complete. */
export type PatternRead = { readonly items: readonly PatternItem[]; readonly diagnostics: readonly Diagnostic[] };

/** More targets than one daemon is meant for. */
const MAX_ITEMS = 1000;

/** Reads the folders or the list that a pattern of targets names, at one revision of its source. */
export async function readPattern(each: EachOf, place: PatternPlace, pace: Pace): Promise<PatternRead> {
  const read = typeof each === "string" ? await readFolders(each, place, pace) : await readList(each.file, place, pace);
  if (read.items.length <= MAX_ITEMS) return read;
  const file = typeof each === "string" ? each : each.file;
  return { items: [], diagnostics: [faultOf(file, `there are more than ${MAX_ITEMS} items`)] };
}

async function readFolders(glob: string, place: PatternPlace, pace: Pace): Promise<PatternRead> {
  const segments = glob.split("/").filter(Boolean);
  const found = place.is === "folder" ? foldersBelow(place.root, segments) : await foldersIn(place, segments, pace);
  const items = found.toSorted(compareText).map((folder): PatternItem => {
    return {
      values: { dir: folder.slice(folder.lastIndexOf("/") + 1) },
      folder,
      file: folder,
      line: null,
      column: null,
    };
  });
  return { items, diagnostics: [] };
}

// As in a shell, a pattern finds what begins with a dot only where it begins with one too.
function segmentMatcher(segment: string): (name: string) => boolean {
  const matches = globMatcher(segment);
  return (name) => matches(name) && (!name.startsWith(".") || segment.startsWith(".")) && name !== ".git";
}

function foldersBelow(root: string, segments: readonly string[]): readonly string[] {
  return segments.map(segmentMatcher).reduce<readonly string[]>(
    (folders, matches) =>
      folders.flatMap((folder) =>
        subfolders(join(root, folder))
          .filter(matches)
          .map((name) => (folder === "" ? name : `${folder}/${name}`)),
      ),
    [""],
  );
}

// Links are not followed.
function subfolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

async function foldersIn(
  { repository, commit }: Extract<PatternPlace, { is: "commit" }>,
  segments: readonly string[],
  pace: Pace,
): Promise<readonly string[]> {
  const matchers = segments.map(segmentMatcher);
  const fixed = segments.slice(0, segments.findIndex(hasWildcard));
  const below = fixed.length === 0 ? {} : { paths: [fixed.join("/")] };
  const folders = new Set<string>();
  for (const { path } of await listTree(repository, commit, pace, { withSizes: false, ...below })) {
    const names = path.split("/");
    if (names.length > segments.length && matchers.every((matches, at) => matches(names[at] ?? "")))
      folders.add(names.slice(0, segments.length).join("/"));
  }
  return [...folders];
}

async function readList(file: string, place: PatternPlace, pace: Pace): Promise<PatternRead> {
  const content =
    place.is === "folder" ? await contentBelow(file, place.root, pace) : await contentIn(file, place, pace);
  if (typeof content === "string") return { items: [], diagnostics: [faultOf(file, `the list of targets ${content}`)] };
  return parseList(file, content);
}

async function contentBelow(file: string, root: string, pace: Pace): Promise<Uint8Array | string> {
  const path = join(root, file);
  if (!isBelow(root, dirname(path))) return "does not exist";
  const opened = readRegularFile(path, defaultLimits.fileBytes);
  if (opened.is === "gone") return "does not exist";
  if (opened.is !== "read") return "cannot be read as a regular file";
  if (opened.size > opened.bytes.length) return "is too large";
  // Of a checkout, its content is what git says it is.
  return (await readInPlace(file, { root, isForeign: false, limit: defaultLimits.fileBytes }, pace)) ?? opened.bytes;
}

function isBelow(root: string, folder: string): boolean {
  try {
    return isAtOrBelow(realpathSync(root), realpathSync(folder));
  } catch {
    return false;
  }
}

async function contentIn(
  path: string,
  { repository, commit }: Extract<PatternPlace, { is: "commit" }>,
  pace: Pace,
): Promise<Uint8Array | string> {
  const root = repository.gitFolder;
  const options = { root, cwd: root, repository, limits: defaultLimits, ref: commit, path, isOurs: true };
  const found = await readFileAt(options, pace);
  if (found === null) return "does not exist";
  if (found.size > defaultLimits.fileBytes) return "is too large";
  return found.bytes(pace);
}

async function parseList(file: string, content: Uint8Array): Promise<PatternRead> {
  await using exact = new ExactProcess();
  const { text, faults, documents } = await readYaml(
    content,
    { format: "yaml", limits: defaultLimits, worthy: null },
    exact,
  );
  const positionAt = lineFinder(text);
  const all = [...faults, ...documents.flatMap((document) => document.faults)];
  if (all.length > 0)
    return { items: [], diagnostics: all.map((each) => diagnosticInFile(file, each, positionAt(each.offset))) };
  const [document, second] = documents;
  const value = document?.value ?? null;
  if (second !== undefined || document === undefined || !Array.isArray(value))
    return {
      items: [],
      diagnostics: [faultOf(file, "a list of targets is one list, of texts or of objects of texts")],
    };
  const locate = locator(document, positionAt);
  const items = value.map((each: Json, at) => itemOf(each, { file, pointer: `/${at}`, locate }));
  return {
    items: items.flatMap((each) => ("values" in each ? [each] : [])),
    diagnostics: items.flatMap((each) => ("values" in each ? [] : [each])),
  };
}

type ItemPlace = { readonly file: string; readonly pointer: string; readonly locate: Locate };

function itemOf(value: Json, { file, pointer, locate }: ItemPlace): PatternItem | Diagnostic {
  const place = { file, folder: null, ...locate(pointer) };
  if (typeof value === "string") return { values: { item: value }, ...place };
  const wrong = "is neither a text nor an object of texts";
  const hintFor = (given: Json | undefined) => (typeof given === "number" ? "Quote numbers, such as '1.10'." : null);
  if (!isObject(value)) return { ...faultOf(file, `the item ${wrong}`, hintFor(value)), ...locate(pointer) };
  const other = Object.entries(value).find(([, text]) => typeof text !== "string");
  if (other !== undefined)
    return {
      ...faultOf(file, `the value of ${other[0]} is no text`, hintFor(other[1])),
      ...locate(`${pointer}/${other[0].replaceAll("~", "~0").replaceAll("/", "~1")}`),
    };
  return { values: Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])), ...place };
}

function faultOf(file: string, summary: string, detail: string | null = null): Diagnostic {
  return fileDiagnostic("error", "target-pattern", file, summary, detail);
}
