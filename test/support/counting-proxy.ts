import { createServer, request } from "node:http";
import { text as readText } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** A proxy before a control plane that counts what it is asked; the leases of writers, which are renewed by the clock, do not count. */
export type CountingProxy = {
  readonly url: string;
  readonly requests: () => readonly string[];
  /** Every bearer token that it was sent. */
  readonly tokens: () => ReadonlySet<string>;
};

/** What a proxy does beside passing requests on. */
export type Interference = {
  /** What is answered in place of the control plane. */
  readonly answer?: (path: string) => { readonly status: number; readonly body: unknown } | null;
  /** Awaited when the control plane has answered and its answer is still on its way. */
  readonly answered?: (path: string) => Promise<unknown>;
  /** What is answered in place of the control plane's own body. */
  readonly replace?: (path: string, body: string) => string;
};

/** Starts one; it ends with the test. */
export async function startCountingProxy(
  { url }: Pick<Server, "url">,
  { answer = () => null, answered = async () => undefined, replace }: Interference = {},
): Promise<CountingProxy> {
  const requests: string[] = [];
  const tokens = new Set<string>();
  const proxy = createServer((asked, reply) => {
    const { method, url: path = "", headers } = asked;
    if (headers.authorization !== undefined) tokens.add(headers.authorization.replace(/^Bearer /, ""));
    if (!path.includes("/leases")) requests.push(`${method} ${path}`);
    const own = answer(path);
    if (own !== null) {
      reply.writeHead(own.status, { "content-type": "application/json" }).end(JSON.stringify(own.body));
      return;
    }
    const plain = replace === undefined ? headers : { ...headers, "accept-encoding": "identity" };
    const passed = request(url + path, { method, headers: plain }, async (received) => {
      await answered(path);
      if (replace === undefined) {
        reply.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(reply);
        return;
      }
      const { "content-length": _, ...others } = received.headers;
      const body = await readText(received);
      reply.writeHead(received.statusCode ?? 502, others).end(replace(path, body));
    });
    passed.once("error", () => reply.destroy());
    asked.pipe(passed);
  });
  const address = await listen(proxy);
  return { url: address, requests: () => requests, tokens: () => new Set(tokens) };
}
