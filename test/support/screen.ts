import xterm from "@xterm/headless";

/** The lines that a terminal shows after such output, scrolled-back ones included. */
export async function screenOf(output: string, columns: number): Promise<readonly string[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 24, convertEol: true, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(output, done));
  const { buffer } = terminal;
  const lines = Array.from(
    { length: buffer.active.length },
    (_, row) => buffer.active.getLine(row)?.translateToString(true) ?? "",
  );
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}
