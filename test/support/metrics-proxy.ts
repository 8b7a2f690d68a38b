import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

type Metric = { readonly key: string; readonly value: unknown; readonly step: number; readonly timestamp: number };

/** The metrics of each model by its name; a test may change them. */
export type Metrics = Map<string, readonly Metric[]>;

/** Starts a proxy to a control plane that adds metrics to its model versions: no operation of the interface records any. */
export async function startMetricsProxy({ url }: Pick<Server, "url">): Promise<{ url: string; metrics: Metrics }> {
  const metrics: Metrics = new Map();
  const proxy = createServer((asked, reply) => void pass(asked, reply).catch(() => reply.destroy()));
  const address = await listen(proxy);
  return { url: address, metrics };

  async function pass(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method, url: path = "", headers } = asked;
    const sent = { method, headers: { ...headers, "accept-encoding": "identity" } };
    const body = await buffer(asked);
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      request(url + path, sent, resolve)
        .once("error", reject)
        .end(body),
    );
    const text = (await buffer(answer)).toString();
    const { "content-length": _, ...others } = answer.headers;
    const isList = method === "GET" && path.startsWith("/api/ml/v1/model-versions") && answer.statusCode === 200;
    reply.writeHead(answer.statusCode ?? 502, others).end(isList ? measured(text) : text);
  }

  function measured(text: string): string {
    const page = JSON.parse(text);
    for (const row of page.data) row.metrics = metrics.get(row.manifest.name) ?? [];
    return JSON.stringify(page);
  }
}
