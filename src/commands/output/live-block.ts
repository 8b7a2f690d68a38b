import { Writable } from "node:stream";
import { columnsOn, type Terminal } from "../terminal.ts";

/** A block of lines at the bottom of a terminal that is redrawn in place. */
export type LiveBlock = {
  /** Text written to this stream appears above the block. */
  readonly above: Terminal["stderr"];
  readonly draw: (lines: readonly string[]) => void;
  readonly clear: () => void;
};

/** Opens a block at the bottom of a terminal. */
export async function openLiveBlock(stream: Terminal["stderr"]): Promise<LiveBlock> {
  const { createLogUpdate } = await import("log-update");
  // A hidden cursor would stay hidden if the process is killed.
  const update = createLogUpdate(stream, { showCursor: true });
  let shown = "";
  const draw = (text: string): void => {
    shown = text;
    if (text !== "") update(text);
  };
  const clear = (): void => {
    if (shown !== "") update.clear();
    shown = "";
  };
  const above = new Writable({
    decodeStrings: false,
    write: (part: string | Buffer, _, done) => {
      const text = shown;
      clear();
      stream.write(part);
      // The block does not overwrite an unfinished line; the next tick draws it.
      if (part.toString().endsWith("\n")) draw(text);
      done();
    },
  });
  return {
    above: Object.assign(above, { isTTY: true, columns: columnsOn(stream) }),
    draw: (lines) => draw(lines.join("\n")),
    clear,
  };
}
