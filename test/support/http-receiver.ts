import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

/** A request that a receiver got. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string; readonly path: string };

/** Answers a request; whoever does nothing hangs. */
export type Answer = (response: ServerResponse, nth: number) => void;

/** Starts a receiver of HTTP requests on loopback; it ends with the test. */
export async function startReceiver(
  answer: Answer = (response) => response.end(),
): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces = await request.toArray();
    received.push({ headers: request.headers, body: Buffer.concat(pieces).toString(), path: request.url ?? "" });
    answer(response, received.length);
  });
  const address = await listen(server);
  return { url: address, received };
}

/** An answer with a status. */
export function status(code: number, headers: { readonly [name: string]: string } = {}): Answer {
  return (response) => void response.writeHead(code, headers).end();
}
