import { Writable } from "node:stream";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { ApplyEvent, KeptEvent } from "../../core/report/events.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { applyLine, applyLines } from "../../render/apply.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { printable } from "../../render/escape.ts";
import { failureText } from "../../render/failure.ts";
import { foreignText } from "../../render/foreign-documents.ts";
import { missingExtensionsText } from "../../render/missing-extensions.ts";
import { needsAttention } from "../../render/outcome.ts";
import { applyViewOf, planReport } from "../../render/pass-report.ts";
import { tokenLocationsText } from "../../render/token-locations.ts";
import { idleEvent, startedEvent } from "../../render/watch-events.ts";
import type { Invocation } from "../command.ts";
import { logOf } from "../output/json-log-stream.ts";
import { passNotices } from "../output/pass-notices.ts";
import { type TerminalView, terminalViewOf } from "../output/terminal-view.ts";
import { columnsOn } from "../terminal.ts";
import { eventReporter, failureIn, logReporter, type WatchReporter } from "./event-reporter.ts";

/** A reporter for people, and for machines where JSON is asked for. */
export function createWatchReporter(invocation: Invocation, name: string | null): WatchReporter {
  const { terminal } = invocation;
  const isJson = terminalViewOf(invocation).output === "json";
  const isLogged = logOf(terminal.stderr) !== null;
  const { stdout, stderr } = terminal;
  const shown = { stdout: isJson ? nowhere() : stdout, stderr: isLogged ? nowhere() : stderr };
  const all = [
    textReporter({ ...invocation, terminal: { ...terminal, ...shown } }),
    ...(isJson ? [eventReporter(invocation, name)] : []),
    ...(isLogged ? [logReporter(terminal)] : []),
  ];
  return {
    started: (seconds) => {
      for (const one of all) one.started(seconds);
    },
    emit: (event) => {
      for (const one of all) one.emit(event);
    },
    failure: (error) => {
      for (const one of all) one.failure(error);
    },
    idle: (nextAt) => {
      for (const one of all) one.idle(nextAt);
    },
    ended: (error) => {
      for (const one of all) one.ended(error);
    },
  };
}

function nowhere(): Writable {
  return new Writable({ write: (_, __, done) => done() });
}

function textReporter(invocation: Invocation): WatchReporter {
  const { stdout, stderr, now } = invocation.terminal;
  const view = terminalViewOf(invocation);
  const others = passNotices(invocation, view);
  const last = {
    diagnostics: "",
    warnings: "",
    applied: "",
    failure: "",
    kept: "",
    planned: "",
    unread: "",
    notUsed: "",
  };
  let hasSpoken = true;
  let isBad = false;
  let isRecovering = false;
  const once = (what: keyof typeof last, text: string, stream: NodeJS.WritableStream = stderr, head = ""): void => {
    if (text === last[what]) return;
    last[what] = text;
    if (text === "") return;
    stream.write(head + text);
    hasSpoken = true;
  };
  const say = (text: string): void => void stderr.write(`${timestampText(now())} ${text}\n`);
  const headOfPass = (revision: string | null): string => {
    const commit = revision === null ? "" : `, commit ${printable(revision.slice(0, 12))}`;
    return `${view.paint("bold", `${timestampText(now())}${commit}`)}\n`;
  };
  // Files have changed since the last time: their lines are read anew.
  const shown = (diagnostics: readonly Diagnostic[]): string =>
    diagnosticsText(diagnostics, terminalViewOf(invocation).diagnosticView);
  const applied = (event: ApplyEvent): void => {
    const { plan, notUsed, tokens } = event;
    once(
      "unread",
      shown(plan.diagnostics.filter(({ severity, code }) => severity === "error" && code === "unreadable")),
    );
    once("notUsed", missingExtensionsText(notUsed, view).join(""));
    stderr.write(tokenLocationsText(tokens, view.diagnosticView.width));
    const isWell = event.report.outcomes.every(({ result }) => result === "unchanged");
    const text = appliedText(event, view);
    // That all is well is news at the beginning, and when it was not before.
    if (isRecovering || last.failure !== "") last.applied = "";
    if (!isWell || isBad || last.applied === "") {
      once("applied", text, stdout, headOfPass(event.report.revision));
    } else last.applied = text;
    isBad = event.report.outcomes.some(needsAttention);
    isRecovering = false;
    last.failure = "";
  };
  return {
    started: (seconds) => say(startedEvent(seconds).message),
    idle: (nextAt) => {
      // Nothing is said again while nothing happens.
      if (!hasSpoken) return;
      hasSpoken = false;
      say(last.failure === "" ? idleEvent(nextAt).message : `trying again at ${timestampText(nextAt)}, or on a change`);
    },
    emit: (event) => {
      switch (event.what) {
        case "read":
          isRecovering ||= last.kept !== "";
          last.kept = "";
          return once(
            "diagnostics",
            shown(event.diagnostics) + foreignText(event.foreign, { width: view.width, lists: false }),
          );
        case "kept":
          return once(
            "kept",
            `${trouble(event)}keeping the last good revision${revisionText(event)}\n`,
            stderr,
            headOfPass(event.revision),
          );
        case "planned":
          last.failure = "";
          return once(
            "planned",
            planReport(event, { ...view, output: "text", now: null }),
            stdout,
            headOfPass(event.plan.revision),
          );
        case "warned":
          return once("warnings", shown(event.warnings));
        case "applied":
          return applied(event);
        case "rolled-out":
          if (event.rollout !== "progressing")
            stdout.write(`${timestampText(now())} ${printable(event.identity)}  rollout ${event.rollout}\n`);
          return;
        default:
          if (event.what === "waiting" || event.what === "standing-by") hasSpoken = true;
          return others(event);
      }
    },
    failure: (error) => once("failure", trouble(failureIn(error)), stderr, headOfPass(null)),
    // The command itself says what ended it.
    ended: () => undefined,
  };

  function trouble({ message, hint, diagnostics }: Pick<KeptEvent, "message" | "hint" | "diagnostics">): string {
    return shown(diagnostics) + failureText({ message, hint }, columnsOn(stderr));
  }
}

function revisionText({ revision }: KeptEvent): string {
  return revision === null ? "" : `, commit ${revision}`;
}

function appliedText(event: ApplyEvent, view: TerminalView): string {
  const lines = applyLines(event.report, { ...applyViewOf(event, view), isRepeated: true });
  return [...lines, applyLine(event.report)].map((line) => `${line}\n`).join("");
}
