import { styleText } from "node:util";
import type { Action } from "../core/plan/plan.ts";

/** The styles of text output. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

/** Applies a style to a text, or returns it plain when colours are off. */
export type Paint = (style: Style, text: string) => string;

/** Returns every text unchanged. */
export const plain: Paint = (_, text) => text;

/** Colours for a terminal. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Chooses coloured or plain output for a stream: by `NO_COLOR`, `FORCE_COLOR`, then by the terminal. */
export function choosePaint(
  { isTTY }: { readonly isTTY?: boolean },
  env: { readonly [name: string]: string | undefined },
  { noColor = false } = {},
): Paint {
  if (noColor || env.NO_COLOR) return plain;
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return forced || (isTTY === true && env.TERM !== "dumb") ? coloured : plain;
}

/** The style of each action's glyph and name. */
export const actionStyles: { readonly [action in Action]: Style } = {
  create: "green",
  update: "yellow",
  keep: "dim",
  ensure: "cyan",
  block: "red",
  orphan: "magenta",
};
