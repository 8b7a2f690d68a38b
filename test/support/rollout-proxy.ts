import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

/** What the proxy makes of the rollouts of its control plane. */
export type RolloutMode = "healthy" | "failed" | "stuck";

/** What passed through the proxy: a write of an application, or the rollouts that a reply showed. */
export type RolloutEvent = {
  readonly at: number;
  readonly what: "write" | RolloutMode;
  /** The replicas of the written or shown application. */
  readonly replicas: readonly number[];
};

/** A proxy before a control plane that changes what it says of rollouts. */
export type RolloutProxy = {
  readonly url: string;
  readonly events: readonly RolloutEvent[];
  readonly set: (mode: RolloutMode) => void;
};

const STATUSES: { readonly [mode in RolloutMode]: string } = {
  healthy: '"DEPLOY_SUCCESS"',
  failed: '"DEPLOY_FAILED"',
  stuck: '"ROLLOUT_STARTED"',
};

/** A request before it is passed on: the replicas of the application that it writes, if it does. */
export type RolloutRequest = { readonly replicas: readonly number[] };

/**
 * Starts a proxy before a control plane, whose rollouts succeed at first. It breaks the connection of a request for which
 * `onRequest` fails.
 */
export async function rolloutProxy(
  { url }: Server,
  onRequest: (request: RolloutRequest) => Promise<void> = async () => {},
): Promise<RolloutProxy> {
  const events: RolloutEvent[] = [];
  let mode: RolloutMode = "healthy";
  const replicasIn = (text: string): readonly number[] =>
    [...text.matchAll(/"replicas":(\d+)/g)].map(([, count]) => Number(count));
  const see = (what: RolloutEvent["what"], text: string): void => {
    const replicas = replicasIn(text);
    if (replicas.length > 0) events.push({ at: performance.now(), what, replicas });
  };
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const isWrite = incoming.method === "PUT" && incoming.url?.startsWith("/api/svc/v1/apps") === true;
    const written = isWrite && !/"dryRun":true/.test(body.toString()) ? body.toString() : "";
    see("write", written);
    try {
      await onRequest({ replicas: replicasIn(written) });
    } catch {
      return void incoming.socket.destroy();
    }
    await forward(incoming, body, response);
  });
  const address = await listen(server);
  return {
    url: address,
    events,
    set: (next) => {
      mode = next;
    },
  };

  async function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const { host: _, connection: __, ...headers } = incoming.headers;
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const method = incoming.method ?? "GET";
    const hasBody = method !== "GET" && method !== "HEAD";
    const answer = await fetch(url + incoming.url, {
      method,
      headers: given,
      ...(hasBody && { body: new Uint8Array(body) }),
    });
    const shown = mode;
    const said = shown === "healthy" ? await answer.text() : changed(await answer.text(), shown);
    if (/"DEPLOY_|"ROLLOUT_/.test(said)) see(shown, said);
    const {
      "content-length": ___,
      "content-encoding": ____,
      "transfer-encoding": _____,
      ...kept
    } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, kept).end(said);
  }
}

function changed(text: string, mode: RolloutMode): string {
  const ended = text.replaceAll(STATUSES.healthy, STATUSES[mode]);
  return mode === "stuck" ? ended.replaceAll('"isTerminalState":true', '"isTerminalState":false') : ended;
}
