import { Pool } from "undici";
import { TOKEN } from "../start-control-plane.ts";

/** A request to make; its answer must be 200. */
export type Ask = { readonly method: "GET" | "PUT" | "POST"; readonly path: string; readonly body?: unknown };

/** What a round of requests took. */
export type Round = {
  readonly milliseconds: number;
  readonly count: number;
  /** Milliseconds of each request, sorted. */
  readonly latencies: readonly number[];
};

/** Connections to one server, as many as may be in flight. */
export type Load = {
  /** Makes all these requests, and answers what they took. */
  readonly round: (asks: readonly Ask[], inFlight: number) => Promise<Round>;
  /** Makes one request, and answers its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a bench reads what it has just written
  readonly one: (ask: Ask) => Promise<any>;
  readonly close: () => Promise<void>;
};

const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** Opens connections to a server. */
export function openLoad(url: string, connections: number): Load {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const text = async ({ method, path, body }: Ask) => {
    const payload = body === undefined ? null : JSON.stringify(body);
    const answer = await pool.request({ method, path, headers, body: payload });
    const answered = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${answered.slice(0, 500)}`);
    return answered;
  };
  return {
    one: async (ask) => JSON.parse(await text(ask)),
    round: async (asks, inFlight) => {
      const queue = asks.values();
      const latencies: number[] = [];
      const worker = async () => {
        for (const ask of queue) {
          const began = performance.now();
          await text(ask);
          latencies.push(performance.now() - began);
        }
      };
      const started = performance.now();
      await Promise.all(Array.from({ length: inFlight }, worker));
      const milliseconds = performance.now() - started;
      return { milliseconds, count: asks.length, latencies: latencies.toSorted((a, b) => a - b) };
    },
    close: () => pool.close(),
  };
}

/** The latency that a part of all requests stayed under. */
export function percentile({ latencies }: Round, part: number): number {
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? Number.NaN;
}
