import { once } from "node:events";
import { Readable, type Writable } from "node:stream";
import { isSpecType, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isObject, type Json } from "../../contract/json.ts";
import { HttpError } from "../../http/http-error.ts";
import { parseJsonBody } from "../../http/json-body.ts";

/** The longest message of a client, as a line and as a body. */
export const MOST_BYTES_OF_MESSAGE = 1024 * 1024;

/** The messages of a client, one in a line; what is none is answered here, since the transport of the protocol passes over it. */
export function messageLines(input: Readable, output: Writable): Readable {
  return Readable.from(checkedLines(input, output), { objectMode: false });
}

async function* checkedLines(input: Readable, output: Writable): AsyncGenerator<string> {
  for await (const line of boundedLines(input)) {
    const fault = line === null ? TOO_LONG : faultOrMessage(line);
    if (typeof fault === "string") yield fault;
    // A client that reads no answers gets no further ones.
    else if (fault !== null && !output.write(`${JSON.stringify(answerTo(fault))}\n`)) await once(output, "drain");
  }
}

type Fault = { readonly code: number; readonly message: string; readonly id: string | number | null };

const TOO_LONG: Fault = {
  code: ProtocolErrorCode.InvalidRequest,
  message: `Invalid Request: the message is longer than ${MOST_BYTES_OF_MESSAGE} bytes`,
  id: null,
};

function answerTo({ code, message, id }: Fault) {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** A message as a line; null for a line that needs no answer. */
function faultOrMessage(line: Buffer): string | Fault | null {
  if (line.toString("latin1").trim() === "") return null;
  let value: Json;
  try {
    value = parseJsonBody(line);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { code: ProtocolErrorCode.ParseError, message: `Parse error: ${error.message}`, id: null };
  }
  if (isSpecType.JSONRPCMessage(value)) return `${JSON.stringify(value)}\n`;
  // What answers a request is never answered itself, else two sides could answer each other for ever.
  if (
    isObject(value) &&
    !Object.hasOwn(value, "method") &&
    (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))
  )
    return null;
  const id = isObject(value) && (typeof value.id === "string" || typeof value.id === "number") ? value.id : null;
  return { code: ProtocolErrorCode.InvalidRequest, message: "Invalid Request: it is no message of JSON-RPC 2.0", id };
}

const LINE_FEED = 10;

/** The lines of a stream; null stands for one that is too long, of which nothing is kept. */
async function* boundedLines(input: Readable): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= MOST_BYTES_OF_MESSAGE) parts.push(part);
    else parts = [];
  };
  const end = (): Buffer | null => {
    const line = size <= MOST_BYTES_OF_MESSAGE ? Buffer.concat(parts) : null;
    [parts, size] = [[], 0];
    return line;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, at));
      yield end();
      from = at + 1;
    }
    add(chunk.subarray(from));
  }
  if (size > 0) yield end();
}
