import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Terminal } from "../terminal.ts";

/** The most that a secret of a group may have. */
const MOST_BYTES = 64 * 1024;

/** The value that is typed without echo, or that standard input has; one line end at its end is not part of it. */
export async function readSecretInput(what: string, terminal: Terminal): Promise<Secret> {
  const text = terminal.stdin.isTTY === true ? await typed(what, terminal) : await piped(terminal);
  if (text !== "") return new Secret(text);
  throw new HoldfastError("invalid", `the ${what} is empty`, {
    hint: "type it, or give it on standard input; nothing was written",
  });
}

async function typed(what: string, { stdin, stderr, stop, stopping }: Terminal): Promise<string> {
  // A line reader writes what is typed to its output.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  prompt.once("SIGINT", () => {
    stop(new HoldfastError("interrupted", "interrupted"));
    prompt.close();
  });
  try {
    stderr.write(`${what} (not shown): `);
    const ended = new Promise<string>((done) => prompt.once("close", () => done("")));
    const answer = await Promise.race([prompt.question("", { signal: stopping }), ended]);
    stopping.throwIfAborted();
    return answer;
  } finally {
    prompt.close();
    stderr.write("\n");
  }
}

async function piped({ stdin, stopping }: Terminal): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stdin) {
    stopping.throwIfAborted();
    const bytes = Buffer.from(piece);
    size += bytes.length;
    // With the line end at its end.
    if (size > MOST_BYTES + 2) throw tooLong();
    pieces.push(bytes);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new HoldfastError("invalid", "the value on standard input is no text in UTF-8", {
      hint: "encode it, for example in Base64",
    });
  }
}

function tooLong(): HoldfastError {
  return new HoldfastError("invalid", `the value on standard input is larger than ${MOST_BYTES / 1024} KiB`, {
    hint: "nothing was written",
  });
}
