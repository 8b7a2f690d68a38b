import { styleText } from "node:util";
import type { Action } from "../core/plan/plan.ts";

/** Styles that output for people uses. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

/** Puts a style on a text, or leaves it plain where colours are not wanted. */
export type Paint = (style: Style, text: string) => string;

/** Leaves every text as it is. */
export const plain: Paint = (_, text) => text;

/** Colours for a terminal. */
export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Whether output to a stream should carry colours: `NO_COLOR`, `FORCE_COLOR`, then whether it is a terminal that has them. */
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
