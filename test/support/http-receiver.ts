import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

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
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return { url: `http://127.0.0.1:${address.port}`, received };
}

/** An answer with a status. */
export function status(code: number, headers: { readonly [name: string]: string } = {}): Answer {
  return (response) => void response.writeHead(code, headers).end();
}
