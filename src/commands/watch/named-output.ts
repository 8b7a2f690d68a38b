import { Writable } from "node:stream";
import { columnsOf } from "../../render/text-width.ts";
import type { Invocation } from "../command.ts";
import { withTarget } from "../output/log-stream.ts";
import { terminalViewOf } from "../output/terminal-view.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { columnsOn, printedOn, type Terminal } from "../terminal.ts";

/** The invocation whose output names the target: text only where there are several, a log always. */
export function withName(
  { name }: CommandTarget,
  { invocation, isAlone }: { readonly invocation: Invocation; readonly isAlone: boolean },
): Invocation {
  const { stdout, stderr } = invocation.terminal;
  const prefix = `${name}: `;
  // JSON output needs no prefix: each line has a `target` field.
  const isText = !isAlone && terminalViewOf(invocation).output !== "json";
  const shown = isText ? withLinePrefix(stdout, prefix) : stdout;
  const text = isAlone ? stderr : withLinePrefix(stderr, prefix);
  const named = printedOn(withTarget(stderr, name) ?? text, invocation.terminal);
  return { ...invocation, terminal: { ...named, stdout: shown } };
}

// A stream that adds a prefix to each line.
function withLinePrefix(stream: Terminal["stdout"], prefix: string): Terminal["stdout"] {
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
