import { createServer, request } from "node:http";
import { onTestFinished } from "vitest";
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
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return { url: `http://127.0.0.1:${address.port}`, requests: () => requests };
}
