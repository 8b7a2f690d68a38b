import type { PlanEvent } from "../../core/report/events.ts";
import { planPlace } from "../../render/plan.ts";
import { sentenceText } from "../../render/wrap.ts";
import type { TerminalView } from "../output/terminal-view.ts";
import type { Terminal } from "../terminal.ts";

/** The first line of an apply: the control plane, the target and the commit. */
export type ApplyHeader = {
  /** The plan that is carried out, unless it was shown with these already. */
  readonly agreed: (planned: PlanEvent) => void;
  /** Prints the line, once. */
  readonly print: () => void;
  /** Prints the line on stderr, before the error of a plan that is refused; once. */
  readonly printRefused: () => void;
};

/** Creates the header; it goes where the outcomes go. */
export function createApplyHeader(
  { stdout, stderr }: Terminal,
  { output, width, target }: TerminalView & { readonly target: string | null },
): ApplyHeader {
  let text = "";
  const printOn = (stream: Terminal["stderr"]): void => {
    stream.write(text);
    text = "";
  };
  return {
    agreed: ({ plan, ...event }) => {
      text = sentenceText(`Applying to ${planPlace(plan, { ...event, target })}`, width);
    },
    print: () => printOn(output === "text" ? stdout : stderr),
    printRefused: () => printOn(stderr),
  };
}
