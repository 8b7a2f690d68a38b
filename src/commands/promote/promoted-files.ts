import { resolve } from "node:path";
import type { NotPromoted } from "../../contract/generated/output.ts";
import type { PromotedManifest, PromotionEvent } from "../../core/report/events.ts";
import { readGivenFile } from "../../files/read-given-file.ts";
import { realPathOutside } from "../../files/real-path.ts";
import { readBlobs } from "../../source/git/blobs.ts";
import { findInRepository } from "../../source/git/find-repository.ts";
import { listTree } from "../../source/git/tree.ts";
import { contentTop, realRoot } from "../../source/source-root.ts";
import { formatOf } from "../../yaml/document.ts";
import { editDocument } from "../../yaml/edit-document.ts";
import { MOST_BYTES } from "../import/write-files.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** A file of the target that is promoted to, before and after the promotion. */
export type PromotedFile = {
  /** Its path in the repository; for a folder that is in none, relative to the working directory. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly promoted: readonly PromotedManifest[];
  /** Whether it contains secrets in plain text. */
  readonly hasSecrets: boolean;
};

/** The files that a promotion changes, and what cannot be changed in place. */
export type PromotedFiles = {
  readonly files: readonly PromotedFile[];
  readonly refused: readonly NotPromoted[];
};

/** Changes the manifests in the text of their files; no file is written. */
export async function promotedFiles(
  { promoted, revision, secretFiles }: PromotionEvent,
  target: CommandTarget,
  terminal: Terminal,
): Promise<PromotedFiles> {
  const refused: NotPromoted[] = [];
  const files: PromotedFile[] = [];
  for (const [file, manifests] of Map.groupBy(promoted, (one) => one.file)) {
    const { path, text: before } = await readSourceFile(file, revision, target, terminal);
    const edit = editFile(file, before, manifests);
    refused.push(...edit.refused.map(notEditable));
    if (edit.text === before) continue;
    const done = manifests.filter((one) => !edit.refused.includes(one));
    files.push({ path, before, after: edit.text, promoted: done, hasSecrets: secretFiles.has(file) });
  }
  return { files, refused };
}

// From the last document to the first, so that the lines of those before do not move.
function editFile(file: string, before: string, manifests: readonly PromotedManifest[]) {
  let text = before;
  const refused: PromotedManifest[] = [];
  for (const one of manifests.toSorted((a, b) => b.line - a.line)) {
    const next = editDocument(text, formatOf(file) ?? "yaml", one);
    if (next === null) refused.push(one);
    else text = next;
  }
  return { text, refused };
}

function notEditable({ kind, file, changes, from: { identity } }: PromotedManifest): NotPromoted {
  const detail = `change ${file} by hand: ${changes.map(({ path }) => path).join(", ")}`;
  return { identity, kind, why: "not-editable", detail };
}

async function readSourceFile(
  file: string,
  revision: string | null,
  { remote, source }: CommandTarget,
  { cwd, stopping: signal }: Terminal,
): Promise<{ readonly path: string; readonly text: string }> {
  if (remote !== null && revision !== null) {
    const { repository } = remote;
    const entries = await listTree(repository, revision, { signal }, { paths: [file] });
    const bytes = await readBlobs(
      repository,
      entries.map(({ blob }) => blob),
      { signal },
    );
    return { path: file, text: Buffer.concat(bytes).toString() };
  }
  const place = realPathOutside(contentTop(source.root), resolve(cwd, file));
  const found = await findInRepository(realRoot(source.root), place, { signal });
  return { path: found?.path ?? file, text: readGivenFile(place, MOST_BYTES).toString() };
}
