import { INVISIBLE } from "../model/unprintable.ts";
import { type Fault, fault, warningFault } from "./fault.ts";

// A zero-width joiner between pictographs forms one emoji and hides nothing.
const JOINED = /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match them.
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

// NEL, a line break in YAML 1.1.
const NEXT_LINE = "\u0085";

/** The kinds of characters in a text. */
export type TextTraits = {
  /** Whether `checkText` could find anything in it, raw or as an escape. */
  readonly isOdd: boolean;
  /** Whether it has no invisible characters, and each line ends with a line feed. */
  readonly isPlain: boolean;
};

/** The traits of a text; a simple text is only printable ASCII and line feeds. */
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
      ? fault(offset, "encoding", "a key with a lone surrogate (half a character)")
      : warningFault(offset, "encoding", "a value with a lone surrogate (half a character)");
  const found = INVISIBLE.exec(text.replace(JOINED, ""));
  if (found === null) return null;
  const name = `U+${(found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const detail = "Such characters are invisible or change the order in which text is shown. Remove it.";
  return where === "key"
    ? fault(offset, "invisible-character", `a key with the invisible character ${name}`, detail)
    : warningFault(offset, "invisible-character", `a value with the invisible character ${name}`, detail);
}
