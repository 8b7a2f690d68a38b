import type { InterruptedWrite } from "../contract/generated/output.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

const foundText: { readonly [found in InterruptedWrite["found"]]: string } = {
  made: "made",
  "not-made": "not made",
  unknown: "unknown whether it was made",
};

const nextText: { readonly [next in InterruptedWrite["next"]]: string } = {
  record: "apply records it",
  send: "apply sends it with the step of its resource",
  close: "apply does not send it again",
  keep: "it stays open, since it is not selected",
  report: "apply reports it and does not exit 0; holdfast resolve shows what is known",
};

const tokenText: { readonly [token in NonNullable<InterruptedWrite["token"]>]: string } = {
  delivered: " and delivers its one-time token",
  lost: ", but its one-time token is lost, so apply does not exit 0",
};

/** What apply does about the writes that an earlier run left open: one line for each conclusion, with its resources. */
export function interruptedLines(
  writes: readonly InterruptedWrite[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  return interruptedTexts(writes, printable).flatMap((text) =>
    wrapWords(text, { indent: "", nextIndent: "  ", width }).map((line) => paint("yellow", line)),
  );
}

/** The same as texts, each resource written by `nameOf`. */
export function interruptedTexts(
  writes: readonly InterruptedWrite[],
  nameOf: (identity: string) => string,
): readonly string[] {
  return [...Map.groupBy(writes, conclusionOf)].map(([conclusion, alike]) => {
    return `Interrupted write, ${conclusion}: ${alike.map(({ identity }) => nameOf(identity)).join(", ")}`;
  });
}

function conclusionOf({ found, next, token, arrivesUntil }: InterruptedWrite): string {
  const late = arrivesUntil === null ? "" : ` (it may arrive until ${arrivesUntil}; apply waits for that)`;
  return `${foundText[found]}${late}: ${nextText[next]}${token === null ? "" : tokenText[token]}`;
}
