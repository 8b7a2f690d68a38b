import { Writable } from "node:stream";
import { type Diagnostic, isUnreadable } from "../../core/diagnostic.ts";
import type { ApplyEvent, KeptEvent, ReadEvent } from "../../core/report/events.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { observers, type PassObserver } from "../../daemon/pass-observer.ts";
import { applyLine, applyLines, tokenLocationsText } from "../../render/apply.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { printable } from "../../render/escape.ts";
import { failureText } from "../../render/failure.ts";
import { leftOutText, otherDocumentsText } from "../../render/left-out.ts";
import { orphanLines, orphanNotes } from "../../render/orphans.ts";
import { needsAttention, rolloutEndText } from "../../render/outcome.ts";
import { applyViewOf, planReport } from "../../render/pass-report.ts";
import { planLine } from "../../render/plan.ts";
import { missingExtensionsText } from "../../render/report-notes.ts";
import { idleEvent, keptLevel, type PassFailure, startedEvent } from "../../render/watch-events.ts";
import type { Invocation } from "../command.ts";
import { logOf } from "../output/log-stream.ts";
import { notPrinted, passNotices } from "../output/pass-notices.ts";
import { type TerminalView, terminalViewOf } from "../output/terminal-view.ts";
import { columnsOn } from "../terminal.ts";
import { eventReporter, failureIn, type WatchReporter } from "./event-reporter.ts";
import { logReporter } from "./log-reporter.ts";

/** Creates the reporter of `watch` for the target of this name: text for people, and JSON for machines if requested. */
export function createWatchReporter(
  invocation: Invocation,
  name: string | null,
): PassObserver & Pick<WatchReporter, "started"> {
  const { terminal } = invocation;
  const isJson = terminalViewOf(invocation).output === "json";
  const isLogged = logOf(terminal.stderr) !== null;
  const { stdout, stderr, logsToStdout = false } = terminal;
  const shown = { stdout: isJson || logsToStdout ? nullStream() : stdout, stderr: isLogged ? nullStream() : stderr };
  const all = [
    textReporter({ ...invocation, terminal: { ...terminal, ...shown } }),
    ...(isJson ? [eventReporter(invocation, name)] : []),
    ...(isLogged ? [logReporter(terminal)] : []),
  ];
  const observer = observers(all);
  return {
    ...observer,
    started: (seconds) => {
      for (const one of all) one.started(seconds);
    },
    end: (pass) => {
      observer.end(pass);
      const { nextAt } = pass.times;
      // A superseded pass is made again at once.
      if (nextAt === null || pass.conclusion.result === "superseded") return;
      for (const one of all) one.idle(nextAt);
    },
  };
}

function nullStream(): Writable {
  return new Writable({ write: (_, __, done) => done() });
}

function textReporter(invocation: Invocation): WatchReporter {
  const { stdout, stderr, clock } = invocation.terminal;
  const view = terminalViewOf(invocation);
  const notice = passNotices(invocation, view);
  const texts = passTexts(invocation, view);
  const changes = createChangeWriter(stderr);
  const repeat = (line: string): void => void stdout.write(`${timestampText(clock.now())} ${line}\n`);
  const applies = createApplyReporter(invocation, { view, texts, changes, repeat });
  const say = (text: string): void => void stderr.write(`${timestampText(clock.now())} ${text}\n`);
  return {
    started: (seconds) => say(startedEvent(seconds).message),
    idle: (nextAt) => {
      // The next pass is announced only after new output.
      if (!changes.takeHasWritten()) return;
      const retry = `trying again at ${timestampText(nextAt)}, or on a change`;
      say(changes.last("failure") === "" ? idleEvent(nextAt).message : retry);
    },
    emit: (event) => {
      switch (event.what) {
        case "read":
          applies.sourceRead();
          changes.write("diagnostics", texts.source(event));
          return;
        case "kept":
          changes.write("kept", texts.kept(event), { head: texts.head(event.revision) });
          return;
        case "planned": {
          changes.set("failure", "");
          const text = planReport(event, { ...view, output: "text", now: null });
          const head = texts.head(event.plan.revision);
          const isNew = changes.write("planned", text, { stream: stdout, head });
          if (!isNew && event.plan.summary.invalid > 0) repeat(planLine(event.plan, event.ignored));
          return;
        }
        case "warned":
          changes.write("warnings", texts.diagnostics(event.warnings));
          return;
        case "applied":
          return applies.applied(event);
        case "rolled-out":
          if (event.rollout !== "progressing")
            stdout.write(
              `${timestampText(clock.now())} ${printable(event.identity)}  ${printable(rolloutEndText(event))}\n`,
            );
          return;
        default:
          if (event.what === "waiting" || event.what === "standing-by") changes.markWritten();
          return notice(event);
      }
    },
    failure: (error) => void changes.write("failure", texts.failure(failureIn(error)), { head: texts.head(null) }),
    // The command itself reports the error that ended it.
    ended: () => undefined,
  };
}

type Topic =
  | "diagnostics"
  | "warnings"
  | "applied"
  | "orphans"
  | "reach"
  | "failure"
  | "kept"
  | "planned"
  | "unread"
  | "notUsed";

type ChangeWriter = {
  /** Writes a text if it differs from the last one of its topic, and returns whether it did; an empty text only clears the topic. */
  readonly write: (
    topic: Topic,
    text: string,
    options?: { readonly stream?: NodeJS.WritableStream; readonly head?: string },
  ) => boolean;
  /** The last text of a topic; empty if it has none. */
  readonly last: (topic: Topic) => string;
  /** Sets the last text of a topic without writing it. */
  readonly set: (topic: Topic, text: string) => void;
  readonly markWritten: () => void;
  /** Whether anything was written since the last call; true on the first call. */
  readonly takeHasWritten: () => boolean;
};

function createChangeWriter(stderr: NodeJS.WritableStream): ChangeWriter {
  const texts = new Map<Topic, string>();
  let hasWritten = true;
  const last = (topic: Topic): string => texts.get(topic) ?? "";
  return {
    write: (topic, text, { stream = stderr, head = "" } = {}) => {
      if (text === last(topic)) return false;
      texts.set(topic, text);
      if (text === "") return false;
      stream.write(head + text);
      hasWritten = true;
      return true;
    },
    last,
    set: (topic, text) => void texts.set(topic, text),
    markWritten: () => {
      hasWritten = true;
    },
    takeHasWritten: () => {
      const taken = hasWritten;
      hasWritten = false;
      return taken;
    },
  };
}

type ApplyReporter = {
  /** A source that is read again after a refusal is a recovery. */
  readonly sourceRead: () => void;
  readonly applied: (event: ApplyEvent) => void;
};

function createApplyReporter(
  { terminal: { stdout, stderr } }: Invocation,
  {
    view,
    texts,
    changes,
    repeat,
  }: {
    readonly view: TerminalView;
    readonly texts: PassTexts;
    readonly changes: ChangeWriter;
    /** Writes the line of a pass that has nothing new. */
    readonly repeat: (line: string) => void;
  },
): ApplyReporter {
  let isBad = false;
  let isRecovering = false;
  return {
    sourceRead: () => {
      isRecovering ||= changes.last("kept") !== "";
      changes.set("kept", "");
    },
    applied: (event) => {
      const { plan, notUsed, tokens, report } = event;
      changes.write("unread", texts.diagnostics(plan.diagnostics.filter(isUnreadable)));
      changes.write("notUsed", missingExtensionsText(notUsed, view).join(""));
      stderr.write(tokenLocationsText(tokens, view.diagnosticView.width));
      const isUnchanged = report.outcomes.every(({ result }) => result === "unchanged");
      const text = appliedText(event, view);
      // A pass without changes is reported only at the start and after a failure.
      if (isRecovering || changes.last("failure") !== "") changes.set("applied", "");
      const isNews = !isUnchanged || isBad || changes.last("applied") === "";
      const isWritten = isNews && changes.write("applied", text, { stream: stdout, head: texts.head(report.revision) });
      if (!isNews) changes.set("applied", text);
      // What is invalid is counted in every pass.
      if (!isWritten && report.summary.invalid > 0) repeat(applyLine(report));
      writeOrphans(event, { view, texts, changes, stdout });
      isBad = report.outcomes.some(needsAttention);
      isRecovering = false;
      changes.set("failure", "");
    },
  };
}

// The list of orphans is written when it changes; a pass over a part of the source has none.
function writeOrphans(
  { plan, history, isPart, report: { revision } }: ApplyEvent,
  {
    view,
    texts,
    changes,
    stdout,
  }: {
    readonly view: TerminalView;
    readonly texts: PassTexts;
    readonly changes: ChangeWriter;
    readonly stdout: NodeJS.WritableStream;
  },
): void {
  if (isPart) return;
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  const orphans = plan.steps.filter(({ action }) => action === "orphan");
  changes.write("orphans", text(orphanLines(orphans, view)), { stream: stdout, head: texts.head(revision) });
  if (history !== undefined) changes.write("reach", text(orphanNotes({ counted: 0, history }, view)));
}

type PassTexts = {
  /** The heading of a pass: its time and its commit. */
  readonly head: (revision: string | null) => string;
  readonly diagnostics: (diagnostics: readonly Diagnostic[]) => string;
  readonly source: (event: ReadEvent) => string;
  readonly kept: (event: KeptEvent) => string;
  readonly failure: (failure: PassFailure) => string;
};

function passTexts(invocation: Invocation, view: TerminalView): PassTexts {
  const { stderr, clock, warnings } = invocation.terminal;
  // A new view each time, because it caches the lines of files that may have changed.
  const diagnostics: PassTexts["diagnostics"] = (list) =>
    diagnosticsText(list, terminalViewOf(invocation).diagnosticView);
  const failure: PassTexts["failure"] = ({ level, message, hint, diagnostics: list }) =>
    diagnostics(list) + failureText({ level, message, hint }, columnsOn(stderr));
  return {
    head: (revision) => {
      const commit = revision === null ? "" : `, commit ${printable(revision.slice(0, 12))}`;
      return `${view.paint("bold", `${timestampText(clock.now())}${commit}`)}\n`;
    },
    diagnostics,
    source: (event) =>
      diagnostics(notPrinted(event.diagnostics, warnings.all())) +
      otherDocumentsText(event.otherDocuments, { width: view.width, lists: false }) +
      leftOutText(event, view),
    kept: (event) =>
      `${failure({ ...event, level: keptLevel(event) })}keeping the last applied revision${revisionText(event)}\n`,
    failure,
  };
}

function revisionText({ revision }: KeptEvent): string {
  return revision === null ? "" : `, commit ${revision}`;
}

function appliedText(event: ApplyEvent, view: TerminalView): string {
  const lines = applyLines(event.report, { ...applyViewOf(event, view), isRepeated: true });
  return [...lines, applyLine(event.report)].map((line) => `${line}\n`).join("");
}
