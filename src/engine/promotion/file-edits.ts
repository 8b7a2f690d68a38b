import type { Stop } from "../../clock/clock.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Identity } from "../../core/manifest.ts";
import { filesByPath, type RevisionFiles, type SourceFile } from "../../source/revision.ts";
import { formatOf } from "../../yaml/document.ts";
import { type DocumentChange, editDocument } from "../../yaml/edit-document.ts";
import { textForm } from "../../yaml/text-form.ts";
import { yamlText } from "../../yaml/write-yaml.ts";

/** A file with changed and new documents. */
export type FileEdit = {
  /** Relative to the root of the source. */
  readonly path: string;
  /** As reports name it. */
  readonly display: string;
  readonly before: string;
  readonly isNew: boolean;
  /** The resources that its changes are about. */
  readonly identities: Set<Identity>;
  readonly documents: DocumentChange[];
  readonly added: JsonObject[];
};

/** The changes to the files of a revision, collected one by one. */
export type FileEdits = {
  readonly change: (file: SourceFile, before: string, identity: Identity, document: DocumentChange) => void;
  /** Adds a document at the end of a file, which may be new. */
  readonly add: (path: string, before: string | null, identity: Identity, document: JsonObject) => void;
  readonly all: () => readonly FileEdit[];
};

/** Creates the collection of changes to a revision; there are none yet. */
export function fileEdits({ files }: Pick<RevisionFiles, "files">): FileEdits {
  const changes = new Map<string, FileEdit>();
  const changeOf = (path: string, before: string | null, identity: Identity): FileEdit => {
    const known = changes.get(path) ?? newChange(path, before, files);
    changes.set(path, known);
    known.identities.add(identity);
    return known;
  };
  return {
    change: ({ path }, before, identity, document) => void changeOf(path, before, identity).documents.push(document),
    add: (path, before, identity, document) => void changeOf(path, before, identity).added.push(document),
    all: () => [...changes.values()],
  };
}

function newChange(path: string, before: string | null, files: readonly SourceFile[]): FileEdit {
  return {
    path,
    display: displayOf(path, files),
    before: before ?? "",
    isNew: before === null,
    identities: new Set(),
    documents: [],
    added: [],
  };
}

function displayOf(path: string, [first]: readonly SourceFile[]): string {
  return first === undefined ? path : first.display.slice(0, first.display.length - first.path.length) + path;
}

/** The text of a file. */
export async function textOf(file: SourceFile, signal: Stop["signal"]): Promise<string> {
  return Buffer.from(await file.bytes({ signal })).toString();
}

/** The text of a changed file; null where a document cannot be changed in place. */
export function changedText({ path, before, documents, added }: FileEdit): string | null {
  let text = before;
  // From the last document to the first, so that the lines of those before do not move.
  for (const document of documents.toSorted((a, b) => b.line - a.line)) {
    const next = editDocument(text, formatOf(path) ?? "yaml", document);
    if (next === null) return null;
    text = next;
  }
  if (added.length === 0) return text;
  const { plain, restore } = textForm(text);
  const start = plain === "" || plain.endsWith("\n") ? plain : `${plain}\n`;
  return restore([start, ...added.map(yamlText)].filter((part) => part !== "").join("---\n"));
}

/** A revision in which these files have other texts, or are there too. */
export function withTexts(revision: RevisionFiles, texts: ReadonlyMap<string, string>): RevisionFiles {
  const known = new Set(revision.files.map(({ path }) => path));
  const kept = revision.files.map((file) => {
    const text = texts.get(file.path);
    return text === undefined ? file : { path: file.path, display: file.display, ...contentOf(text) };
  });
  const added = [...texts].flatMap(([path, text]) =>
    known.has(path) ? [] : [{ path, display: displayOf(path, revision.files), ...contentOf(text) }],
  );
  const files = [...kept, ...added].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { ...revision, files, filesByPath: filesByPath(files) };
}

// Nothing of it is known: it is in no commit and no folder.
function contentOf(text: string): Omit<SourceFile, "path" | "display"> {
  const bytes = Buffer.from(text);
  return { bytes: () => bytes, size: bytes.length, digest: null, stamp: null, blob: null };
}
