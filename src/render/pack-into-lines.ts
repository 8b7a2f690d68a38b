import { columnsOf, cutEnd } from "./text-width.ts";

/** Joins parts into lines of a width; `rest` is the text for the parts that exceed the allowed lines. */
export function packIntoLines(
  parts: readonly string[],
  {
    columns,
    mostLines,
    rest,
  }: { readonly columns: number; readonly mostLines: number; readonly rest: (left: number) => string },
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [index, part] of parts.entries()) {
    const next = line === "" ? part : `${line} · ${part}`;
    if (columnsOf(next) <= columns) {
      line = next;
      continue;
    }
    if (lines.length === mostLines - 1) return [...lines, line, cutEnd(rest(parts.length - index), columns)];
    if (line !== "") lines.push(line);
    line = cutEnd(part, columns);
  }
  return line === "" ? lines : [...lines, line];
}
