import { createInterface } from "node:readline/promises";
import { HoldfastError } from "../../core/errors.ts";
import type { Terminal } from "../terminal.ts";

/** Questions on a terminal; lines that are typed ahead wait for the next one. */
export type Questions = Disposable & {
  /** Asks until the answer is valid; an empty one is the default. */
  readonly ask: (question: Question) => Promise<string>;
};

/** A question with a default. */
export type Question = {
  readonly text: string;
  readonly byDefault: string;
  /** Why an answer is not valid; null if it is. */
  readonly faultOf: (answer: string) => string | null;
};

/** Begins to ask; throws when the input ends before an answer. */
export function openQuestions({ stdin, stderr, stop, stopping }: Terminal): Questions {
  const prompt = createInterface({ input: stdin, output: stderr });
  prompt.once("SIGINT", () => {
    stop(new HoldfastError("interrupted", "interrupted"));
    prompt.close();
  });
  const lines = prompt[Symbol.asyncIterator]();
  const ask = async ({ text, byDefault, faultOf }: Question): Promise<string> => {
    for (;;) {
      stderr.write(`${text}${byDefault === "" ? "" : ` [${byDefault}]`}: `);
      const line = await lines.next();
      stopping.throwIfAborted();
      if (line.done) throw new HoldfastError("invalid", "a question was not answered", { hint: "nothing was written" });
      const answer = line.value.trim() || byDefault;
      const fault = faultOf(answer);
      if (fault === null) return answer;
      stderr.write(`  ${fault}\n`);
    }
  };
  return { ask, [Symbol.dispose]: () => prompt.close() };
}
