/** Rows of Markdown under one foldable title. */
export type MarkdownGroup = { readonly title: string; readonly rows: readonly string[] };

/** A part of a report: its heading and its groups. */
export type MarkdownBlock = {
  readonly heading: string;
  readonly groups: readonly MarkdownGroup[];
};

/** Characters reserved for the notice about omitted rows. */
const NOTICE = 600;

/** Joins the parts of a report. If they exceed `most` characters, whole rows are left out and counted. */
export function fitMarkdown(
  head: string,
  blocks: readonly MarkdownBlock[],
  { most, whole }: { readonly most: number; readonly whole: string },
): string {
  const all = blocks.flatMap(({ groups }) => groups.flatMap(({ rows }) => rows)).length;
  const room = { left: most - head.length - NOTICE };
  let shown = 0;
  const texts: string[] = [];
  for (const { heading, groups } of blocks) {
    const parts: string[] = [];
    for (const { title, rows } of groups) {
      const frame = `<details><summary>${title}</summary>\n\n\n\n</details>\n\n`;
      const fitting = takeFitting(rows, frame.length + (parts.length === 0 ? heading.length + 2 : 0), room);
      if (fitting.length === 0) break;
      shown += fitting.length;
      parts.push(`<details><summary>${title}</summary>\n\n${fitting.join("\n\n")}\n\n</details>`);
    }
    if (parts.length > 0) texts.push([heading, ...parts].join("\n\n"));
  }
  const cut = shown === all ? [] : [`**${shown} of ${all} resources are shown here.** ${whole}`];
  return `${[head, ...texts, ...cut].join("\n\n")}\n`;
}

function takeFitting(rows: readonly string[], frame: number, room: { left: number }): readonly string[] {
  const fitting = fittingRows(rows, room.left - frame);
  const isAll = fitting.length > 0 && fitting.length === rows.length;
  room.left = isAll ? room.left - frame - lengthOf(fitting) : 0;
  return fitting;
}

/** The first rows that have room in so many characters. After one that does not fit none is taken, so that it is a prefix. */
export function fittingRows(rows: readonly string[], most: number): readonly string[] {
  let left = most;
  const end = rows.findIndex((row) => {
    left -= lengthOf([row]);
    return left < 0;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

function lengthOf(rows: readonly string[]): number {
  return rows.reduce((sum, row) => sum + row.length + 2, 0);
}
