import { INVISIBLE } from "../model/unprintable.ts";
import { type Fault, fault, warningFault } from "./fault.ts";

// A zero-width joiner between pictographs makes one emoji of them, and hides nothing.
const JOINED = /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

// The line feed of other times.
const NEXT_LINE = "\u0085";

/** What kinds of characters a text has. */
export type TextTraits = {
  /** Whether it could hold anything that `checkText` finds, raw or as an escape. */
  readonly isOdd: boolean;
  /** Whether each character is what it looks like, and each line ends with a line feed. */
  readonly isPlain: boolean;
};

/** The traits of a text; a simple one is printable ASCII and line feeds alone. */
export function traitsOf(text: string, isSimple: boolean): TextTraits {
  const isHiding = !isSimple && INVISIBLE.test(text);
  return {
    isOdd: isHiding || text.includes("\\"),
    isPlain: isSimple || !(isHiding || text.includes(NEXT_LINE)),
  };
}

/** Finds characters that mislead a reader: refused in keys, a warning in values. */
export function checkText(text: string, offset: number, where: "key" | "value"): Fault | null {
  if (where === "key" && CONTROL.test(text))
    return fault(offset, "control-character", "a key with a control character in it");
  if (!text.isWellFormed())
    return where === "key"
      ? fault(offset, "encoding", "a key with half a character in it")
      : warningFault(offset, "encoding", "a value with half a character in it (a lone surrogate)");
  const found = INVISIBLE.exec(text.replace(JOINED, ""));
  if (found === null) return null;
  const name = `U+${(found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const detail = "Such characters are invisible or change the order in which text is shown. Remove it.";
  return where === "key"
    ? fault(offset, "invisible-character", `a key with the invisible character ${name}`, detail)
    : warningFault(offset, "invisible-character", `a value with the invisible character ${name}`, detail);
}
