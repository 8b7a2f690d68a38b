import { join, relative, resolve } from "node:path";
import type { ImportReport } from "../contract/generated/output.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import type { ImportEvent, PassEvent } from "../core/report/events.ts";
import { isUnder } from "../core/selection/select.ts";
import { reconcile } from "../engine/reconcile.ts";
import type { Target } from "../engine/target.ts";
import { isAtOrBelow, realPathOutside, relativePath } from "../files/real-path.ts";
import { count } from "../render/count-text.ts";
import { importReport } from "../render/import.ts";
import { contentTop } from "../source/source-root.ts";
import { type InvocationOf, missingFlags } from "./command.ts";
import type { importCommand } from "./declarations/import.ts";
import {
  type PlacedFiles,
  placeFiles,
  requireNoOther,
  schemaPlace,
  summaryOf,
  writeFiles,
  writeSchema,
} from "./import/write-files.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { confirm, isInteractive, say, type Terminal, writeResult } from "./terminal.ts";

/** Writes manifests of what is live to files. */
export async function run(invocation: InvocationOf<typeof importCommand>): Promise<number> {
  const { args, flags, terminal } = invocation;
  if (flags.update) {
    const { updateManifests } = await import("./import/update-manifests.ts");
    return updateManifests(invocation);
  }
  if (flags.into === undefined)
    throw missingFlags({ "--into DIR": undefined }, "name the folder to write the manifests to");
  const view = terminalViewOf(invocation);
  // The arguments name what is live, and no files of the source.
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true, isCommitOptional: true });
  const content = contentTop(target.source.root);
  const folder = realPathOutside(content, resolve(terminal.cwd, flags.into));
  const inSource = isAtOrBelow(content, folder) ? relativePath(content, folder) : null;
  const schema = schemaPlace(folder, inSource === null ? null : content);
  const mode = {
    is: "import",
    only: args,
    folder: inSource,
    schema: relativePath(folder, schema),
    external: target.source.config.repository.external ?? [],
  } as const;
  const notice = passNotices(invocation, view);
  const emit = (event: PassEvent): void => notice(withoutEmptySource(event));
  const end = await reconcile({ ...target, rules: lenientRules(target) }, mode, { ...terminal, emit });
  if (end.what !== "imported") return endWithInvalidSource(end, invocation);
  const placed = placeFiles(folder, end.files);
  await requireNoOther(folder, placed.other);
  if (placed.other.length > 0 && !flags.force && !(await mayOverwrite(placed, terminal))) throw notOverwritten(placed);
  if (end.files.length > 0) writeSchema(schema);
  writeFiles(folder, [...placed.absent, ...placed.other]);
  const report = reportOf(end, placed, { folder: relative(terminal.cwd, folder), terminal });
  if (inSource !== null && end.paths?.some((path) => isUnder(path, inSource || ".")) === false)
    say(terminal, `warning: plan does not read ${flags.into}: add it to \`paths\` in holdfast.yaml`);
  await writeResult(terminal, importReport(report, { ...view, folder: flags.into }));
  const isAsked = report.resources.some(({ why }) => why === "absent" || why === "unreadable");
  return isAsked || report.unread.some(({ isFailure }) => isFailure) ? exitCodes.error : 0;
}

// An import that was stopped may have written what refers to a resource, but not yet the resource. A source that has lost
// much may be what is imported again.
function lenientRules({ rules }: Target): Target["rules"] {
  return (config) => {
    const { load, ...others } = rules(config);
    return { ...others, allowShrink: true, load: { ...load, external: ["**"] } };
  };
}

// The first import is into an empty source.
function withoutEmptySource(event: PassEvent): PassEvent {
  if (event.what !== "read") return event;
  return { ...event, selected: event.selected.filter(({ code }) => code !== "empty-source") };
}

async function mayOverwrite({ other }: PlacedFiles, terminal: Terminal): Promise<boolean> {
  if (!isInteractive(terminal)) return false;
  for (const { path } of other.slice(0, LISTED)) say(terminal, `  ${path}`);
  return confirm(`Overwrite ${count(other.length, "manifest file")} with what is live?`, terminal);
}

const LISTED = 20;

function notOverwritten({ other }: PlacedFiles): HoldfastError {
  const shown = other.slice(0, 3).map(({ path }) => path);
  const more = other.length > shown.length ? ` and ${other.length - shown.length} more` : "";
  return new HoldfastError("refused", `files with other content are in the way: ${shown.join(", ")}${more}`, {
    hint: "nothing was written; --force overwrites them, or import into another folder",
  });
}

function reportOf(
  end: ImportEvent,
  { absent, same, other }: PlacedFiles,
  { folder, terminal }: { readonly folder: string; readonly terminal: Terminal },
): ImportReport {
  const of = (files: PlacedFiles["same"], result: "written" | "unchanged"): ImportReport["resources"] =>
    files.map(({ identity, kind, path }) => ({ identity, kind, file: join(folder, path), result }));
  const resources = [...of([...absent, ...other], "written"), ...of(same, "unchanged"), ...end.kept];
  const { server, unread, unseen, undeclared } = end;
  const diagnostics = terminal.warnings.all();
  return { ...summaryOf(resources), server, resources, unread, unseen, undeclared, diagnostics };
}
