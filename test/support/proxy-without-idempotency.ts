import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** How the proxy misbehaves; a test may change it. */
type Manners = {
  /** Sends writes of this path twice, and answers with the nth reply. */
  twice: { readonly path: string; readonly reply: 1 | 2 } | null;
  dropsTokens: boolean;
};

type Answer = { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: string };

/** Starts a proxy to a control plane that removes idempotency keys, as if it did not honour them. */
export async function startProxyWithoutIdempotency({
  url,
}: Server): Promise<{ readonly url: string; readonly manners: Manners }> {
  const manners: Manners = { twice: null, dropsTokens: false };
  const proxy = createServer((asked, reply) => void pass(asked, reply).catch(() => reply.destroy()));
  const address = await listen(proxy);
  return { url: address, manners };

  async function pass(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = await buffer(asked);
    const { twice, dropsTokens } = manners;
    const isTwice = asked.url === twice?.path && asked.method !== "GET" && !body.includes('"dryRun":true');
    const first = await send(asked, body);
    const second = isTwice ? await send(asked, body) : first;
    const { status, headers, body: text } = twice?.reply === 2 ? second : first;
    const { "idempotency-key-accepted": _, "content-length": _length, ...rest } = headers;
    reply.writeHead(status, rest).end(dropsTokens ? withoutToken(text) : text);
  }

  function send({ method, url: path = "", headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const { "idempotency-key": _, ...rest } = headers;
    return new Promise((resolve, reject) => {
      const onward = request(url + path, { method, headers: { ...rest, "accept-encoding": "identity" } }, (answer) => {
        const { statusCode: status = 502, headers: received } = answer;
        buffer(answer).then((whole) => resolve({ status, headers: received, body: whole.toString() }), reject);
      });
      onward.once("error", reject);
      onward.end(body);
    });
  }
}

function withoutToken(text: string): string {
  const { token: _, ...rest } = JSON.parse(text);
  return JSON.stringify(rest);
}
