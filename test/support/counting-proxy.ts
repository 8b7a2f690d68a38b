import { createServer, request } from "node:http";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** A proxy before a control plane that counts what it is asked; the leases of writers, which are renewed by the clock, do not count. */
export type CountingProxy = { readonly url: string; readonly requests: () => readonly string[] };

/** What a proxy does beside passing requests on. */
export type Interference = {
  /** What is answered in place of the control plane. */
  readonly answer?: (path: string) => { readonly status: number; readonly body: unknown } | null;
  /** Awaited when the control plane has answered and its answer is still on its way. */
  readonly answered?: (path: string) => Promise<unknown>;
};

/** Starts one; it ends with the test. */
export async function startCountingProxy(
  { url }: Pick<Server, "url">,
  { answer = () => null, answered = async () => undefined }: Interference = {},
): Promise<CountingProxy> {
  const requests: string[] = [];
  const proxy = createServer((asked, reply) => {
    const { method, url: path = "", headers } = asked;
    if (!path.includes("/leases")) requests.push(`${method} ${path}`);
    const own = answer(path);
    if (own !== null) {
      reply.writeHead(own.status, { "content-type": "application/json" }).end(JSON.stringify(own.body));
      return;
    }
    const passed = request(url + path, { method, headers }, async (received) => {
      await answered(path);
      reply.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(reply);
    });
    passed.once("error", () => reply.destroy());
    asked.pipe(passed);
  });
  const address = await listen(proxy);
  return { url: address, requests: () => requests };
}
