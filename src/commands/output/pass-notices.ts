import { type Diagnostic, isUnreadable } from "../../core/diagnostic.ts";
import { SHRUNK_SOURCE } from "../../core/guards/mass-change-guards.ts";
import { FROZEN } from "../../core/guards/write-refusal.ts";
import { UNDECLARED } from "../../core/referenced-values.ts";
import type { PassEvent } from "../../core/report/events.ts";
import { sourceRefusal } from "../../core/report/source-refusal.ts";
import { diagnosticsText, severityCounts, validationText } from "../../render/diagnostics.ts";
import { leftOutText, otherDocumentsText } from "../../render/left-out.ts";
import { failedEvent, outcomeEvent, toWatchEvents, type WatchLogBody } from "../../render/watch-events.ts";
import { sentenceText } from "../../render/wrap.ts";
import type { Invocation } from "../command.ts";
import { say, type Terminal } from "../terminal.ts";
import { logOf, sayWait } from "./log-stream.ts";
import type { TerminalView } from "./terminal-view.ts";

/** The progress of a pass is told at most this often. */
const QUIET_MS = 2000;

/** A listener that writes the progress, waits, warnings and source errors of a pass to stderr; the command shows the result. */
export function passNotices({ flags, terminal }: Invocation, view: TerminalView): (event: PassEvent) => void {
  const { stderr, clock } = terminal;
  let saidAt = clock.monotonic();
  return (event) => {
    switch (event.what) {
      case "listing":
        if (clock.monotonic() - saidAt < QUIET_MS) return;
        saidAt = clock.monotonic();
        return say(terminal, `reading ${event.kind}: ${event.rows.toLocaleString("en")} so far`);
      case "waiting":
        return sayWait(terminal, event.text);
      case "standing-by":
        return say(terminal, `standing by: ${event.message}`);
      case "taking-over":
        stderr.write("taking over\n");
        return;
      case "warned":
        stderr.write(diagnosticsText(event.warnings, view.diagnosticView));
        return;
      case "read":
        stderr.write(sourceText(event, flags, terminal.warnings.all(), view));
    }
  };
}

/** The diagnostics without the warnings about the run, which were printed when they were found. */
export function notPrinted(diagnostics: readonly Diagnostic[], printed: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter((one) => !printed.includes(one));
}

const SHOWN: readonly string[] = [SHRUNK_SOURCE, FROZEN, UNDECLARED];

/**
 * Shows on stderr what could not be read of live, what it keeps beside what is declared, and that the source lost too much to be applied or the target is frozen,
 * unless the JSON result contains it. Errors of the source were shown.
 */
export function showUnreadable(diagnostics: readonly Diagnostic[], { terminal }: Invocation, view: TerminalView): void {
  if (view.output === "json") return;
  terminal.stderr.write(
    diagnosticsText(
      diagnostics.filter((one) => isUnreadable(one) || SHOWN.includes(one.code)),
      view.diagnosticView,
    ),
  );
}

/** The diagnostics of a source, and whether they stop the pass. */
function sourceText(
  event: Extract<PassEvent, { readonly what: "read" }>,
  flags: Invocation["flags"],
  printed: readonly Diagnostic[],
  { diagnosticView }: TerminalView,
): string {
  const { strict = false, show = [] } = flags;
  const { selected, files, manifests, documents, diagnostics, isRefused } = event;
  const found =
    diagnosticsText(notPrinted(selected, printed), diagnosticView) +
    otherDocumentsText(event.otherDocuments, { width: diagnosticView.width, lists: show.includes("unmanaged") }) +
    leftOutText(event, diagnosticView);
  const columns = diagnosticView.width;
  if (!isRefused) return found;
  const counts = { files, manifests, declared: documents, strict, ...severityCounts(diagnostics) };
  const end = sentenceText(`nothing was sent; ${sourceRefusal(event, flags).hint}`, columns);
  return `${found}${validationText(counts, columns)}${end}`;
}

/** A Markdown sentence that links a shortened report to the full one: the CI job, or the command that shows it. */
export function fullReportNote(env: Terminal["env"]): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: job } = env;
  const url = server && repository && run ? `${server}/${repository}/actions/runs/${run}` : job;
  const isUrl = url !== undefined && /^https?:\/\/[\w./:%~-]+$/.test(url);
  return isUrl ? `[The job](${url}) has all of them.` : "`holdfast plan -o json` has all of them.";
}

/**
 * A listener that writes a pass to the log with the events of a daemon, each outcome as soon as it is known; null if
 * stderr is no log.
 */
export function passLog({ flags, terminal: { stderr, clock } }: Invocation): ((event: PassEvent) => void) | null {
  const log = logOf(stderr);
  if (log === null) return null;
  const begunAt = clock.now();
  const told = new Map<string, string | undefined>();
  let revision: string | null = null;
  const say = ({ level, message, ...fields }: WatchLogBody): void =>
    log[level]({ ...fields, revision: fields.revision ?? revision }, message);
  return (event) => {
    if (event.what === "read") revision = event.revision;
    if (event.what === "finished" && event.outcome.result !== "unchanged") {
      told.set(event.outcome.identity, event.outcome.result);
      say(outcomeEvent(event.outcome, { revision, token: null }));
    }
    for (const body of toWatchEvents(event)) {
      const { event: name, identity, result } = body;
      if (name === "outcome" && told.get(identity ?? "") === result) continue;
      const isEnd = name === "applied" || name === "incomplete";
      say(isEnd ? { ...body, durationMs: clock.now() - begunAt } : body);
    }
    if (event.what === "read" && event.isRefused) {
      const { message, hint } = sourceRefusal(event, flags);
      say(failedEvent({ level: "error", message: `${message}, and nothing was sent`, hint, diagnostics: [] }));
    }
  };
}
