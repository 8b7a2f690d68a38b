import { join, resolve } from "node:path";
import type { FormatReport } from "../contract/generated/output.ts";
import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { removeDrafts, replaceFile } from "../files/write-file.ts";
import { formatFile } from "../manifests/format-file.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { formatText } from "../render/format.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { fileDiagnostic } from "../source/file-diagnostic.ts";
import { defaultLimits } from "../source/limits.ts";
import { readFolder } from "../source/read-folder.ts";
import { readSourceConfig } from "../source/read-source-config.ts";
import { findRoot } from "../source/source-root.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import type { InvocationOf } from "./command.ts";
import type { fmt } from "./declarations/fmt.ts";
import { diagnosticViewOn } from "./output/terminal-view.ts";
import { requireValidConfig } from "./targets/create-target.ts";
import { writeResult } from "./terminal.ts";

/** Changes are an exit code of their own, but no failure. */
const CHANGES = 2;

/** Brings the fields of manifests into canonical order, or says which files have another one. */
export async function run(invocation: InvocationOf<typeof fmt>): Promise<number> {
  const { flags, terminal } = invocation;
  const { root, files, diagnostics: unread } = await filesOf(invocation);
  const check = flags.check ?? false;
  const diagnostics = [...unread];
  const changed: string[] = [];
  let manifests = 0;
  if (!check) removeDrafts(files.map(({ path }) => join(root, path)));
  await using exact = new ExactProcess();
  for (const file of files) {
    terminal.stopping.throwIfAborted();
    const formatted = await formatFile(file, { exact, signal: terminal.signal });
    manifests += formatted.manifests;
    diagnostics.push(...formatted.diagnostics);
    if (formatted.bytes === null) continue;
    const fault = check ? null : written(join(root, file.path), formatted.bytes, file.display);
    if (fault === null) changed.push(file.display);
    else diagnostics.push(fault);
  }
  const report: FormatReport = {
    format_version: FORMAT_VERSION,
    summary: { manifests, files: files.length, changed: changed.length },
    changed,
    diagnostics: sortDiagnostics(diagnostics),
  };
  const isJson = stdoutFormat(flags.output) === "json";
  if (!isJson) terminal.stderr.write(diagnosticsText(diagnostics, diagnosticViewOn(terminal.stderr, invocation)));
  await writeResult(terminal, isJson ? jsonText(report) : formatText(report, check));
  if (diagnostics.some(({ severity }) => severity === "error")) return exitCodes.invalid;
  return check && changed.length > 0 ? CHANGES : 0;
}

// The files as they are in the folder: what git would make of them does not matter here.
async function filesOf({ args, flags, terminal }: InvocationOf<typeof fmt>) {
  const { cwd, clock, stopping: signal } = terminal;
  const root = findRoot({ cwd, source: flags.source });
  const pace = { clock, signal };
  const here = { root, cwd, configFile: flags.config, base: null, repository: null };
  const config = await readSourceConfig(here, pace);
  requireValidConfig(config.diagnostics);
  const paths = args.length > 0 ? args.map((path) => resolve(cwd, path)) : config.repository.paths;
  const place = { root, cwd, repository: null, limits: defaultLimits, ...(paths === undefined ? {} : { paths }) };
  return await readFolder(place, pace);
}

function written(path: string, bytes: Buffer, display: string): Diagnostic | null {
  try {
    replaceFile(path, [bytes], { isShared: true });
    return null;
  } catch (error) {
    const why = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    return fileDiagnostic("error", "unwritable", display, `it cannot be written${why}`);
  }
}
