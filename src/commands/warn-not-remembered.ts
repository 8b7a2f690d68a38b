import type { OnForgotten } from "../state/state.ts";
import { say, type Terminal } from "./terminal.ts";

const told = new WeakMap<Terminal, Set<string>>();

/** Warns, once each, of what cannot be stored for the next run. */
export function warnNotRemembered(terminal: Terminal): OnForgotten {
  const before = told.get(terminal) ?? new Set();
  told.set(terminal, before);
  return (what, why) => {
    const line = `warning: ${what} is not remembered for the next run: ${why}`;
    if (!before.has(line)) say(terminal, line);
    before.add(line);
  };
}
