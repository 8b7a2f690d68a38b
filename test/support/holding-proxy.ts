import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** A proxy in front of a control plane that can hold back requests or replies, as when the network breaks at the worst moment. */
export type HoldingProxy = {
  readonly url: string;
  /** From now on, writes of the path arrive and their replies do not, dry runs aside. Resolves once one is held. */
  readonly hold: (method: string, path: string) => Promise<void>;
  /** From now on, writes of the path do not arrive before `letGo`. Resolves once one is held. */
  readonly delay: (method: string, path: string) => Promise<void>;
  /** From now on, everything passes. */
  readonly open: () => void;
  /** The same, and what was held back or delayed arrives after all; resolves once what was delayed is answered. */
  readonly letGo: () => Promise<void>;
};

/** Starts the proxy; it ends with the test. */
export async function startHoldingProxy({ url }: Pick<Server, "url">): Promise<HoldingProxy> {
  const closed = new Map<string, () => void>();
  const delayed = new Map<string, () => void>();
  const late: (() => Promise<void> | void)[] = [];
  const proxy = createServer((asked, reply) => void pass(asked, reply));
  const address = await listen(proxy);
  return {
    url: address,
    hold: (method, path) => new Promise<void>((held) => closed.set(`${method} ${path}`, held)),
    delay: (method, path) => new Promise<void>((held) => delayed.set(`${method} ${path}`, held)),
    open,
    letGo: async () => {
      open();
      await Promise.all(late.splice(0).map((arrive) => arrive()));
    },
  };

  function open(): void {
    closed.clear();
    delayed.clear();
  }

  async function pass(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method, url: path = "", headers } = asked;
    const body = await buffer(asked);
    const isDryRun = body.includes('"dryRun":true');
    const held = isDryRun ? undefined : closed.get(`${method} ${path}`);
    const isLate = isDryRun ? undefined : delayed.get(`${method} ${path}`);
    const { promise: answered, resolve: over } = Promise.withResolvers<void>();
    if (isLate !== undefined)
      await new Promise<void>((arrive) => {
        late.push(() => {
          arrive();
          return answered;
        });
        isLate();
      });
    const passed = request(url + path, { method, headers }, (answer) => {
      answer.once("end", over);
      const arrive = () => reply.writeHead(answer.statusCode ?? 502, answer.headers);
      if (held === undefined) answer.pipe(arrive());
      else
        void buffer(answer).then((kept) => {
          late.push(() => void arrive().end(kept));
          held();
        });
    });
    passed.once("error", () => reply.destroy());
    passed.end(body);
  }
}
