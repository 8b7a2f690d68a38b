import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type OperationName, operation } from "../../src/contract/operations.ts";

/** A request as it arrived at the proxy. */
export type Asked = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** An answer of the control plane, as a fault may pass it on or not. */
export type Answered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** One request on its way, as a fault sees it. */
export type Passing = {
  readonly asked: Asked;
  /** The reply to the client, not begun yet. */
  readonly reply: ServerResponse;
  /** Sends the request on, and gives the control plane's whole answer. */
  readonly forward: () => Promise<Answered>;
  /** Ends every connection, and refuses new ones for so many milliseconds. */
  readonly refuse: (ms: number) => Promise<void>;
};

/** What happens to a request in place of being passed on. */
export type Fault = (passing: Passing) => unknown;

/** Which requests a fault meets. */
export type Target = OperationName | RegExp | ((asked: Asked) => boolean);

/** A fault that is in place. */
export type Injected = {
  /** How many requests have met it. */
  readonly hits: () => number;
  /** Resolves when the first request has met it. */
  readonly hit: Promise<void>;
  readonly stop: () => void;
};

/** A proxy in front of a real control plane that passes everything on, but for the faults that a test puts in. */
export type FaultProxy<Behind extends { readonly url: string }> = {
  /** What is behind it, at the proxy's address: give this to `sourceOf`. */
  readonly server: Behind;
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly asked: Asked[];
  /**
   * Puts a fault in the way of an operation, of requests whose `METHOD /path?query` matches, or of those that are told. Of those that match, the
   * first `skip` pass and the next `times` meet it. Of several faults for one request, the newest is met.
   * @default skip 0, times Infinity
   */
  readonly inject: (
    target: Target,
    fault: Fault,
    options?: { readonly skip?: number; readonly times?: number; readonly dryRun?: boolean },
  ) => Injected;
  /** Takes every fault out. */
  readonly heal: () => void;
  /** Waits until nothing that was sent on is still with the control plane. */
  readonly idle: () => Promise<void>;
};

type Rule = { readonly meets: (asked: Asked) => boolean; readonly fault: Fault };

const PROBE = "/is-the-proxy-idle";

/** Starts a proxy in front of a control plane; it is closed when the test is over. Headers that it strips do not pass. */
export async function faultProxy<Behind extends { readonly url: string }>(
  behind: Behind,
  { strips = [] }: { readonly strips?: readonly string[] } = {},
): Promise<FaultProxy<Behind>> {
  const asked: Asked[] = [];
  const rules = new Set<Rule>();
  const underWay = new Set<Promise<unknown>>();
  const proxy = createServer((message, reply) => {
    if (message.url === PROBE) reply.end();
    else void pass(message, reply).catch(() => reply.destroy());
  });
  const listen = (at: number) => new Promise<void>((done) => proxy.listen(at, "127.0.0.1", done));
  await listen(0);
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  const { port } = address;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    server: { ...behind, url },
    asked,
    inject: (target, fault, { skip = 0, times = Number.POSITIVE_INFINITY, dryRun } = {}) => {
      const { promise: hit, resolve } = Promise.withResolvers<void>();
      let [seen, hits] = [0, 0];
      const meets = (one: Asked): boolean => {
        if (!isTarget(target, one) || (dryRun !== undefined && isDryRun(one) !== dryRun)) return false;
        seen += 1;
        if (seen <= skip || hits >= times) return false;
        hits += 1;
        resolve();
        return true;
      };
      const rule = { meets, fault };
      rules.add(rule);
      return { hits: () => hits, hit, stop: () => void rules.delete(rule) };
    },
    heal: () => rules.clear(),
    idle: async () => {
      // What a process sent before it was killed may lie unread in its sockets: it is read before what is sent now.
      await fetch(url + PROBE);
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };

  async function refuse(ms: number): Promise<void> {
    proxy.close();
    proxy.closeAllConnections();
    await pause(ms);
    await listen(port);
  }

  async function pass(message: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = message;
    const body = buffer(message);
    underWay.add(body);
    const one: Asked = { method, path, headers, body: (await body.finally(() => underWay.delete(body))).toString() };
    asked.push(one);
    const forward = async (): Promise<Answered> => {
      const sent = send(behind.url, { ...one, headers: without(strips, one.headers) });
      underWay.add(sent);
      const answered = await sent.finally(() => underWay.delete(sent));
      return { ...answered, headers: without(strips, answered.headers) };
    };
    const rule = [...rules].reverse().find(({ meets }) => meets(one));
    await (rule?.fault ?? passOn)({ asked: one, reply, forward, refuse });
  }
}

function without(names: readonly string[], headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** Passes a request on unharmed. */
export async function passOn({ reply, forward }: Passing): Promise<void> {
  const { status, headers, body } = await forward();
  reply.writeHead(status, headers).end(body);
}

function send(origin: string, { method, path, headers, body }: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const onward = request(origin + path, { method, headers }, (answer) => {
      const { statusCode: status = 502, headers: received } = answer;
      buffer(answer).then((whole) => resolve({ status, headers: received, body: whole }), reject);
    });
    onward.once("error", reject);
    onward.end(body);
  });
}

function isTarget(target: Target, asked: Asked): boolean {
  if (typeof target === "function") return target(asked);
  const { method, path } = asked;
  if (target instanceof RegExp) return target.test(`${method} ${path}`);
  const row = operation(target);
  const pattern = new RegExp(`^${row.path.replace(/\{\w+\}/g, "[^/?]+")}(?:\\?|$)`);
  return method === row.method && pattern.test(path);
}

function isDryRun({ body }: Asked): boolean {
  return body.includes('"dryRun":true');
}

/** Answers in place of the control plane, which never hears of it; a body that is no text is sent as JSON. */
export function answer(status: number, body: unknown, headers: { readonly [name: string]: string } = {}): Fault {
  const [type, text] =
    typeof body === "string" ? ["text/plain", body] : ["application/json; charset=utf-8", JSON.stringify(body)];
  return ({ reply }) => reply.writeHead(status, { "content-type": type, ...headers }).end(text);
}

/** A gateway's error page. */
export function htmlPage(status: number): Fault {
  return answer(status, `<html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>\n`, {
    "content-type": "text/html",
  });
}

/** A well-formed list of nothing. */
export const emptyList: Fault = answer(200, { data: [], pagination: { total: 0, offset: 0, limit: 1000 } });

/** Passes a list on without the rows that say this. */
export function listWithout(words: string): Fault {
  return async ({ reply, forward }) => {
    const { status, body } = await forward();
    const { data, pagination } = JSON.parse(body.toString());
    const rows = data.filter((row: unknown) => !JSON.stringify(row).includes(words));
    const total = pagination.total - (data.length - rows.length);
    const text = JSON.stringify({ data: rows, pagination: { ...pagination, total } });
    reply.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(text);
  };
}

/** Asks the client to come back after so many seconds. */
export function tooManyRequests(seconds: number): Fault {
  return answer(
    429,
    { statusCode: 429, message: "too many requests", code: "rate-limited" },
    { "retry-after": `${seconds}` },
  );
}

/** Breaks the connection, and the control plane never hears of the request. */
export const dropBefore: Fault = ({ reply }) => reply.destroy();

/** Breaks the connection after the control plane has done what it was asked to. */
export const dropAfter: Fault = async ({ reply, forward }) => {
  await forward();
  reply.destroy();
};

/** Never answers; the control plane never hears of the request. */
export const silence: Fault = () => undefined;
