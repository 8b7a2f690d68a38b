import type { Diagnostic } from "../core/diagnostic.ts";
import type { ApplyEvent, KeptEvent, PassEvent } from "../core/events.ts";
import { applyLine, applyLines } from "../render/apply.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { printable } from "../render/escape.ts";
import { notUsedText } from "../render/not-used.ts";
import { applyViewOf, planReport } from "../render/pass-report.ts";
import { tokensText } from "../render/tokens.ts";
import type { Invocation } from "./command.ts";
import { failureOf } from "./failure.ts";
import { type OutputOptions, outputOptionsOf } from "./output-options.ts";
import { reportPass } from "./report-pass.ts";

/** Reports what changes from one pass to the next, and nothing while nothing does. */
export type WatchReporter = {
  readonly tell: (event: PassEvent) => void;
  readonly failure: (error: unknown) => void;
};

/** A reporter on the streams of a terminal. */
export function createWatchReporter(invocation: Invocation): WatchReporter {
  const { stdout, stderr } = invocation.terminal;
  const view = outputOptionsOf(invocation);
  const others = reportPass(invocation, view);
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
  const once = (what: keyof typeof last, text: string, stream: NodeJS.WritableStream = stderr): void => {
    if (text !== last[what]) stream.write(text);
    last[what] = text;
  };
  // Files have changed since the last time: their lines are read anew.
  const shown = (diagnostics: readonly Diagnostic[]): string =>
    diagnosticsText(diagnostics, outputOptionsOf(invocation).diagnosticView);
  const applied = (event: ApplyEvent): void => {
    const { plan, notUsed, tokens } = event;
    once(
      "unread",
      shown(plan.diagnostics.filter(({ severity, code }) => severity === "error" && code === "unreadable")),
    );
    once("notUsed", notUsedText(notUsed, view.paint).join(""));
    stderr.write(tokensText(tokens));
    once("applied", appliedText(event, view), stdout);
    last.failure = "";
  };
  return {
    tell: (event) => {
      switch (event.what) {
        case "read":
          last.kept = "";
          return once("diagnostics", shown(event.diagnostics));
        case "kept":
          return once("kept", `${failureText(event)}keeping the last good revision${revisionText(event)}\n`);
        case "planned":
          last.failure = "";
          return once("planned", planReport(event, { ...view, output: "text", now: null }), stdout);
        case "other-writers":
          return once("warnings", shown(event.warnings));
        case "applied":
          return applied(event);
        case "rolled-out":
          if (event.rollout !== "progressing")
            stdout.write(`  ${printable(event.identity)}  rollout ${event.rollout}\n`);
          return;
        default:
          return others(event);
      }
    },
    failure: (error) => {
      const { hint = null, diagnostics = [] } = failureOf(error) ?? {};
      const message = error instanceof Error ? error.message : String(error);
      once("failure", failureText({ message, hint, diagnostics }));
    },
  };

  function failureText({ message, hint, diagnostics }: Pick<KeptEvent, "message" | "hint" | "diagnostics">): string {
    const next = hint === null ? "" : `  → ${printable(hint)}\n`;
    return `${shown(diagnostics)}error: ${printable(message)}\n${next}`;
  }
}

function revisionText({ revision }: KeptEvent): string {
  return revision === null ? "" : `, commit ${revision}`;
}

function appliedText(event: ApplyEvent, view: OutputOptions): string {
  const lines = applyLines(event.report, applyViewOf(event, view));
  return [...lines, applyLine(event.report)].map((line) => `${line}\n`).join("");
}
