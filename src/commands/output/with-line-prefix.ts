import { Writable } from "node:stream";
import { columnsOf } from "../../render/text-width.ts";
import { columnsOn, type Terminal } from "../terminal.ts";

/** A stream that adds a prefix to each line. */
export function withLinePrefix(stream: Terminal["stdout"], prefix: string): Terminal["stdout"] {
  let isAtStart = true;
  const prefixed = new Writable({
    decodeStrings: false,
    write: (part: string | Buffer, _, done) => {
      const text = part.toString();
      const lines = text.replace(/\n(?!$)/g, `\n${prefix}`);
      const begun = isAtStart && text !== "" ? prefix : "";
      if (text !== "") isAtStart = text.endsWith("\n");
      stream.write(begun + lines, done);
    },
  });
  return Object.assign(prefixed, { isTTY: stream.isTTY ?? false, columns: columnsOn(stream) - columnsOf(prefix) });
}
