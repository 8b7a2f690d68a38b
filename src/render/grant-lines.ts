import type { GrantChange } from "./grants.ts";
import type { Paint, Style } from "./paint.ts";
import { brokenWords, wrapWords } from "./wrap.ts";

const styles: { readonly [sign in GrantChange["sign"]]: Style } = { "+": "green", "-": "red" };

/** A role or membership with its sign, on lines of a width: never cut, since a reader must see who may do what. */
export function grantLines(
  { sign, text }: Pick<GrantChange, "sign" | "text">,
  { indent, paint, width }: { readonly indent: string; readonly paint: Paint; readonly width: number },
): readonly string[] {
  const words = [paint(styles[sign], sign), ...brokenWords(text, width - indent.length - 2)];
  return wrapWords(words, { indent, nextIndent: `${indent}  `, width });
}
