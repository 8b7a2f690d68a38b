import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import {
  type Answered,
  answer,
  dropAfter,
  dropBefore,
  emptyList,
  type Fault,
  htmlPage,
  type Passing,
  silence,
} from "../support/fault-proxy.ts";

/** Changes the control plane's answer on its way, after it has done what it was asked to. */
function altered(send: (answered: Answered, passing: Passing) => unknown): Fault {
  return async (passing) => send(await passing.forward(), passing);
}

/** Lets the control plane work, and answers something else. */
function afterwards(fault: Fault): Fault {
  return async (passing) => {
    await passing.forward();
    await fault(passing);
  };
}

/** The answer without the headers that tell of its length, since its body becomes another one. */
function unmeasured({ headers }: Answered): Answered["headers"] {
  const { "content-length": _length, "transfer-encoding": _coding, ...rest } = headers;
  return rest;
}

/** The control plane's status and headers with another body. */
const withBody = (bodyOf: (body: Buffer) => Buffer | string): Fault =>
  altered((answered, { reply }) => {
    reply.writeHead(answered.status, unmeasured(answered)).end(bodyOf(answered.body));
  });

const refusal = (status: number, code: string): Fault => answer(status, { statusCode: status, message: code, code });

const later = (status: number, seconds: string): Fault =>
  answer(status, { statusCode: status, message: "later", code: "later" }, { "retry-after": seconds });

const half = (body: Buffer): Buffer => body.subarray(0, Math.floor(body.length / 2));

const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));

/** The last answer to another request of the same method, as a proxy that mixes them up would send it. */
function mixedUp(): Fault {
  const last = new Map<string, Answered & { readonly path: string }>();
  return altered((answered, { asked, reply }) => {
    const other = last.get(asked.method);
    last.set(asked.method, { ...answered, path: asked.path });
    const { status, headers, body } = other !== undefined && other.path !== asked.path ? other : answered;
    reply.writeHead(status, headers).end(body);
  });
}

/** Every kind of fault between a client and its control plane, by what happens. */
export const faultKinds: { readonly [kind: string]: Fault } = {
  "connections refused for 300 ms": ({ refuse }) => refuse(300),
  "connection closed before the request is processed": dropBefore,
  "connection reset before the request is processed": ({ reply }) => reply.socket?.resetAndDestroy(),
  "connection closed after the request is processed": dropAfter,
  "connection reset after the request is processed": altered((_, { reply }) => reply.socket?.resetAndDestroy()),
  "no reply, and the request is lost": silence,
  "no reply, although the request is processed": altered(() => undefined),
  "a reply after half a second": altered(async ({ status, headers, body }, { reply }) => {
    await pause(500);
    reply.writeHead(status, headers).end(body);
  }),
  "a reply after the client's time limit": altered(async (answered, { reply }) => {
    reply.writeHead(answered.status, unmeasured(answered));
    for (const byte of answered.body.subarray(0, 20)) {
      reply.write(Buffer.from([byte]));
      await pause(100);
    }
    reply.destroy();
  }),
  "a truncated body": altered(({ status, headers, body }, { reply }) => {
    reply.writeHead(status, { ...headers, "content-length": body.length });
    reply.write(half(body), () => reply.destroy());
  }),
  "half of the body, with a matching length": withBody(half),
  "a body that is no JSON": withBody(() => Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x22])),
  "an empty body": withBody(() => ""),
  "`null` as the body": withBody(() => "null"),
  "204 without a body": afterwards(({ reply }) => reply.writeHead(204).end()),
  "an HTML page with 200": htmlPage(200),
  "an HTML page with 404": htmlPage(404),
  "an HTML page with 502 before the request is processed": htmlPage(502),
  "an HTML page with 502 after the request is processed": afterwards(htmlPage(502)),
  "JSON with another content type": altered(({ status, headers, body }, { reply }) => {
    reply.writeHead(status, { ...headers, "content-type": "text/plain" }).end(body);
  }),
  "an empty list": emptyList,
  "a list without its first row": withBody(withoutFirstRow),
  "401": refusal(401, "unauthorized"),
  "403": refusal(403, "forbidden"),
  "408": refusal(408, "timeout"),
  "409": refusal(409, "conflict"),
  "429 with Retry-After": later(429, "1"),
  "429 with a Retry-After of an hour": later(429, "3600"),
  "500 before the request is processed": refusal(500, "internal"),
  "500 after the request is processed": afterwards(refusal(500, "internal")),
  "503 with Retry-After": later(503, "1"),
  "503 without Retry-After": refusal(503, "unavailable"),
  "504 after the request is processed": afterwards(refusal(504, "gateway-timeout")),
  "507": refusal(507, "insufficient-storage"),
  "a gzip bomb": afterwards(({ reply }) => {
    reply.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
  }),
  "a redirect to another host": ({ reply }) => reply.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end(),
  "a byte-order mark before the JSON": withBody((body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
  "the request delivered twice": altered(async (_, { reply, forward }) => {
    const { status, headers, body } = await forward();
    reply.writeHead(status, headers).end(body);
  }),
  "the reply to another request": mixedUp(),
};

// What is no list passes as it is.
function withoutFirstRow(body: Buffer): Buffer | string {
  const text = body.toString();
  if (!text.startsWith('{"data":[')) return body;
  const { data, pagination } = JSON.parse(text);
  const rows = data.slice(1);
  return JSON.stringify({ data: rows, pagination: { ...pagination, total: Math.max(0, pagination.total - 1) } });
}
