import { Writable } from "node:stream";
import { createLog } from "../../src/log/log.ts";

/** A log that keeps its lines. */
export function keptLog() {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog({ level: "trace", stream }), lines, entries: () => lines.map((line) => JSON.parse(line)) };
}
