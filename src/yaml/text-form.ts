/** How a file says its text: with a byte-order mark, and with which line ends. */
export type TextForm = {
  /** The text without the mark, with the line ends of YAML unless those of the file differ. */
  readonly plain: string;
  readonly hasMixedEnds: boolean;
  /** A changed text in the form of the file. */
  readonly restore: (changed: string) => string;
};

/** The form of a text, which a changed one gets again. */
export function textForm(text: string): TextForm {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const hasWindowsEnds = text.includes("\r\n");
  const hasMixedEnds = hasWindowsEnds && /(?<!\r)\n/.test(text);
  const isWindows = hasWindowsEnds && !hasMixedEnds;
  return {
    plain: (isWindows ? text.replaceAll("\r\n", "\n") : text).slice(mark.length),
    hasMixedEnds,
    restore: (changed) => mark + (isWindows ? changed.replaceAll("\n", "\r\n") : changed),
  };
}
