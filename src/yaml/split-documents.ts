/** One document's part of a file's text; it includes the opening `---` if there is one. */
export type Chunk = {
  readonly text: string;
  /** Offset of the chunk in the file's text. */
  readonly offset: number;
  /** Whether a `---` opens it: then it is a document even if empty. */
  readonly isExplicit: boolean;
};

// A line that starts with a marker ends everything before it, block and quoted scalars included, so splitting is exact.
// After `...` only a comment may follow; the parser refuses anything else.
// Without the flag `m`, for which a line also begins after U+2028 and U+2029: in YAML 1.2 those end no line.
const MARKER = /(?<![^\n])(?:---(?=[ \t\n]|$)|\.\.\.(?=[ \t]*(?:\n|$)|[ \t]+#))/g;

/** Splits a text into its documents, so that a broken document does not hide the others. */
export function splitDocuments(text: string): readonly Chunk[] {
  if (!text.includes("---") && !text.includes("...")) return [{ text, offset: 0, isExplicit: false }];
  const chunks: Chunk[] = [];
  let start = 0;
  let isExplicit = false;
  const close = (end: number) => {
    if (isExplicit || end > start) chunks.push({ text: text.slice(start, end), offset: start, isExplicit });
  };
  for (const { 0: marker, index } of text.matchAll(MARKER)) {
    close(index);
    isExplicit = marker === "---";
    start = isExplicit ? index : endOfLine(text, index);
  }
  close(text.length);
  return chunks;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}
