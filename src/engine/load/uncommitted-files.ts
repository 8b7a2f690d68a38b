import { hasErrors } from "../../core/diagnostic.ts";
import { isOurReport, type Loaded } from "../../manifests/load-manifests.ts";
import type { RevisionFiles } from "../../source/revision.ts";
import type { Desired } from "./desired.ts";

/** The commit that still identifies the plan: untracked files without manifests, such as a report, do not change it. */
export function commitWithout({ untracked }: RevisionFiles, { files }: Loaded["contents"]): string | null {
  if (untracked === undefined) return null;
  const others = files.filter(({ file }) => untracked.paths.has(file.path));
  const isEmpty = others.every(
    ({ content, diagnostics }) => content.declarations.length === 0 && !hasErrors(diagnostics),
  );
  return isEmpty ? untracked.commit : null;
}

/** The files that differ from the commit of the folder, as reports name them. */
export function uncommittedIn({ differing, files }: RevisionFiles): Pick<Desired, "uncommitted"> {
  if (differing === undefined) return {};
  return { uncommitted: new Set(files.flatMap(({ path, display }) => (differing.has(path) ? [display] : []))) };
}

/** The files of a source without the plans and reports of ours among them. */
export function withoutReports({ files }: Loaded["contents"]): Pick<RevisionFiles, "files"> {
  return { files: files.flatMap((each) => (isOurReport(each) ? [] : [each.file])) };
}

/** How far a folder is from its commit: a plan or report of ours that lies in it is no change. */
export function changesOf(
  { added, changedSince }: RevisionFiles,
  { files }: Loaded["contents"],
): Pick<RevisionFiles, "changedSince"> {
  if (added === undefined || changedSince === undefined) return {};
  const reports = files.filter((each) => added.has(each.file.path) && isOurReport(each));
  return { changedSince: { ...changedSince, files: changedSince.files - reports.length } };
}
