/** One document's part of a file's text; it starts with its own `---` when it has one. */
export type Chunk = {
  readonly text: string;
  /** Offset of the chunk in the file's text. */
  readonly offset: number;
  /** Whether a `---` opens it: even an empty one is then a document. */
  readonly isExplicit: boolean;
};

// A line that starts so ends whatever came before it, block and quoted scalars included, so splitting is exact.
// After `...` only a comment may follow; anything else is left for the parser to refuse.
const MARKER = /^(?:---(?=[ \t\r\n]|$)|\.\.\.(?=[ \t]*\r?$|[ \t]+#))/gm;

/** Cuts a text into its documents, so that a broken one does not hide the others. */
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
