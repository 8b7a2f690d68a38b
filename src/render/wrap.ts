import { columnsOf } from "./columns.ts";

/** Words in lines of a width, each after an indent; a word that is wider keeps a line of its own. */
export function wrapWords(
  text: string,
  { indent, width }: { readonly indent: string; readonly width: number },
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + columnsOf(line) + 1 + columnsOf(word) > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
