import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { ImportedResource, ImportReport } from "../../contract/generated/output.ts";
import { exitCodes, HoldfastError } from "../../core/errors.ts";
import type { ManifestUpdate } from "../../core/report/events.ts";
import { reconcile } from "../../engine/reconcile.ts";
import { readGivenFile } from "../../files/read-given-file.ts";
import { realPathOutside } from "../../files/real-path.ts";
import { removeDrafts } from "../../files/write-file.ts";
import { documentChange } from "../../manifests/document-change.ts";
import { count } from "../../render/count-text.ts";
import { importReport } from "../../render/import.ts";
import { contentTop, realRoot } from "../../source/source-root.ts";
import { formatOf } from "../../yaml/document.ts";
import { editDocument } from "../../yaml/edit-document.ts";
import type { InvocationOf } from "../command.ts";
import type { importCommand } from "../declarations/import.ts";
import { endWithInvalidSource } from "../output/end-with-invalid-source.ts";
import { passNotices } from "../output/pass-notices.ts";
import { terminalViewOf } from "../output/terminal-view.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { findTarget, findTargets } from "../targets/find-targets.ts";
import { otherReaderOf } from "../targets/other-reader-of.ts";
import { confirm, isInteractive, type Terminal, writeResult } from "../terminal.ts";
import { MOST_BYTES, summaryOf, writeManifestFile } from "./write-files.ts";

/** Changes the manifests that exist to what is live, in place. */
export async function updateManifests(invocation: InvocationOf<typeof importCommand>): Promise<number> {
  const { args, flags, terminal } = invocation;
  if (flags.into !== undefined)
    throw new HoldfastError("invalid", "--update changes the files that exist, and --into writes new ones", {
      hint: "leave one of them out",
    });
  const view = terminalViewOf(invocation);
  const { paths = [], only = [] } = Object.groupBy(args, (one) =>
    existsSync(resolve(terminal.cwd, one)) ? "paths" : "only",
  );
  const selecting = { ...invocation, args: paths, flags: { ...flags, ...(only.length === 0 ? {} : { only }) } };
  await using target = await findTarget(selecting, { reading: true });
  if (target.remote !== null)
    throw new HoldfastError("invalid", "this target follows a git repository, whose files are not here", {
      hint: "run import --update in a checkout, without --target",
    });
  await using all = await findTargets(withoutTarget(invocation), { reading: true });
  const mode = { is: "update", readerOf: (path: string) => otherReaderOf(path, target, all.targets) } as const;
  const end = await reconcile(target, mode, { ...terminal, emit: passNotices(invocation, view) });
  if (end.what !== "updates") return endWithInvalidSource(end, invocation);
  const edits = [...Map.groupBy(end.updates, ({ file }) => file)].map(([file, updates]) =>
    editFile(realPathOutside(contentTop(target.source.root), resolve(terminal.cwd, file)), updates, target),
  );
  const top = realRoot(target.source.root);
  const patched = end.patches.files.map(({ path, after }) => {
    const display = relative(terminal.cwd, join(top, path));
    const edited = end.patches.updates.filter(({ file }) => file === display);
    return { path: realPathOutside(contentTop(top), join(top, path)), text: after, edited, refused: [] };
  });
  const changed = [...edits.filter(({ edited }) => edited.length > 0), ...patched];
  await requireConsent(changed, flags.force ?? false, terminal);
  removeDrafts(changed.map(({ path }) => path));
  for (const { path, text } of changed) writeManifestFile(path, text);
  const resources = [
    ...edits.flatMap(({ edited, refused }) => [...edited.map(updated), ...refused.map(notEditable)]),
    ...end.patches.updates.map(updated),
    ...end.kept,
  ];
  const report: ImportReport = {
    ...summaryOf(resources),
    server: end.server,
    resources,
    unread: [],
    unseen: null,
    undeclared: [],
    diagnostics: terminal.warnings.all(),
  };
  await writeResult(terminal, importReport(report, { ...view, folder: "" }));
  return report.summary.skipped > 0 ? exitCodes.error : 0;
}

/** A file after its changes, and the changes that cannot be made in place. */
type EditedFile = {
  readonly path: string;
  readonly text: string;
  readonly edited: readonly ManifestUpdate[];
  readonly refused: readonly ManifestUpdate[];
};

// From the last document to the first, so that the lines of those before do not move.
function editFile(path: string, updates: readonly ManifestUpdate[], { choice }: CommandTarget): EditedFile {
  const format = formatOf(path) ?? "yaml";
  let text = readGivenFile(path, MOST_BYTES).toString();
  const [edited, refused]: [ManifestUpdate[], ManifestUpdate[]] = [[], []];
  for (const update of updates.toSorted((a, b) => b.line - a.line)) {
    const change = documentChange({ text, format }, update, choice?.rename ?? null);
    const next = change === null ? null : editDocument(text, format, change);
    if (next === null) refused.push(update);
    else {
      text = next;
      edited.push(update);
    }
  }
  return { path, text, edited, refused };
}

// Changes that no commit has could be lost among these.
async function requireConsent(changed: readonly EditedFile[], isForced: boolean, terminal: Terminal): Promise<void> {
  const dirty = changed.filter(({ edited }) => edited.some(({ isUncommitted }) => isUncommitted));
  const names = dirty.flatMap(({ edited }) => edited[0]?.file ?? []);
  if (isForced || names.length === 0) return;
  const what = `${count(names.length, "manifest file")} with uncommitted changes`;
  if (isInteractive(terminal) && (await confirm(`Change ${what} (${names.slice(0, 3).join(", ")})?`, terminal))) return;
  throw new HoldfastError("refused", `${what}: ${names.slice(0, 3).join(", ")}`, {
    hint: "nothing was written; commit or stash them first, or use --force",
  });
}

// The other targets may read the same files.
function withoutTarget({ flags: { target: _, ...flags }, ...invocation }: InvocationOf<typeof importCommand>) {
  return { ...invocation, args: [], flags };
}

function updated({ identity, kind, file, changes }: ManifestUpdate): ImportedResource {
  return { identity, kind, file, result: "updated", changes };
}

function notEditable({ identity, kind, file, changes }: ManifestUpdate): ImportedResource {
  const detail = `change by hand: ${changes.map(({ path }) => path).join(", ")}`;
  return { identity, kind, file, result: "skipped", why: "not-editable", detail };
}
