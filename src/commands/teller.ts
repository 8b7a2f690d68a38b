import type { Diagnostic } from "../core/diagnostic.ts";
import type { Plan } from "../core/plan.ts";
import type { Outcome } from "../core/report.ts";
import type { Applied, Progress } from "../engine/apply.ts";
import type { Look } from "../engine/look.ts";
import { applyLine, outcomeText } from "../render/apply.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { printable } from "../render/escape.ts";
import { notUsedText } from "../render/not-used.ts";
import type { Paint } from "../render/paint.ts";
import { changeText } from "../render/plan.ts";
import { tokensText } from "../render/tokens.ts";
import type { Invocation } from "./command.ts";
import { failureOf } from "./failure.ts";
import { placesIn } from "./following.ts";
import type { Prepared } from "./prepare.ts";

/** Says what changed from one pass to the next, and is silent while nothing does. */
export type Teller = {
  readonly diagnostics: (diagnostics: readonly Diagnostic[], prepared: Prepared) => void;
  /** What is to be said of live, once it was looked at. */
  readonly warnings: (warnings: readonly Diagnostic[], prepared: Prepared) => void;
  readonly applied: (applied: Applied, looked: Look, prepared: Prepared) => void;
  readonly failure: (error: unknown) => void;
  /** Says how a rollout that a pass did not wait for has ended, once it has. */
  readonly left: (rollout: Extract<Progress, { readonly what: "left" }>) => void;
  /** Everything that was left is told. */
  readonly settled: () => Promise<void>;
};

/** A teller on the streams of a terminal. */
export function createTeller({ terminal }: Invocation): Teller {
  const last = { diagnostics: "", warnings: "", applied: "", failure: "", unread: "", notUsed: "" };
  const left = new Set<Promise<void>>();
  const once = (what: keyof typeof last, text: string, stream: NodeJS.WritableStream): void => {
    if (text !== last[what]) stream.write(text);
    last[what] = text;
  };
  return {
    diagnostics: (diagnostics, { settings }) =>
      once("diagnostics", diagnosticsText(diagnostics, settings.diagnosticView), terminal.stderr),
    warnings: (warnings, { settings }) =>
      once("warnings", diagnosticsText(warnings, settings.diagnosticView), terminal.stderr),
    applied: (applied, { plan, notUsed }, prepared) => {
      const { paint, diagnosticView } = prepared.settings;
      const unread = plan.diagnostics.filter(({ severity, code }) => severity === "error" && code === "unreadable");
      once("unread", diagnosticsText(unread, diagnosticView), terminal.stderr);
      once("notUsed", notUsedText(notUsed, paint).join(""), terminal.stderr);
      terminal.stderr.write(tokensText(applied.tokens));
      const lines = applied.outcomes
        .filter(({ result }) => result !== "unchanged")
        .flatMap((outcome) => [
          `  ${outcomeText(outcome, paint, placesIn(prepared))}`,
          ...changesOf(outcome, plan, paint),
        ])
        .map((line) => `${line}\n`);
      once("applied", `${lines.join("")}${applyLine(applied)}\n`, terminal.stdout);
      last.failure = "";
    },
    failure: (error) => {
      const { hint: next = null } = failureOf(error) ?? {};
      const hint = next === null ? "" : `\n  → ${printable(next)}`;
      const message = error instanceof Error ? error.message : String(error);
      once("failure", `error: ${printable(message)}${hint}\n`, terminal.stderr);
    },
    left: ({ step, ending }) => {
      const telling = ending.then((rollout) => {
        left.delete(telling);
        if (rollout !== "progressing") terminal.stdout.write(`  ${printable(step.identity)}  rollout ${rollout}\n`);
      });
      left.add(telling);
    },
    settled: async () => {
      await Promise.all(left);
    },
  };
}

function changesOf({ identity }: Outcome, { steps }: Plan, paint: Paint): readonly string[] {
  const step = steps.find((one) => one.identity === identity);
  return (step?.changes ?? []).map((change) => changeText(change, paint));
}
