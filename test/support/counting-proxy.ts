import { createServer, request } from "node:http";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** A proxy before a control plane that counts what it is asked; the leases of writers, which are renewed by the clock, do not count. */
export type CountingProxy = { readonly url: string; readonly requests: () => readonly string[] };

/** Starts one; it ends with the test. */
export async function startCountingProxy({ url }: Pick<Server, "url">): Promise<CountingProxy> {
  const requests: string[] = [];
  const proxy = createServer((asked, reply) => {
    const { method, url: path = "", headers } = asked;
    if (!path.includes("/leases")) requests.push(`${method} ${path}`);
    const passed = request(url + path, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    passed.once("error", () => reply.destroy());
    asked.pipe(passed);
  });
  const address = await listen(proxy);
  return { url: address, requests: () => requests };
}
