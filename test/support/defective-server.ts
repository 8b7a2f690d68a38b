import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";
import type { Server } from "./server.ts";

// biome-ignore lint/suspicious/noExplicitAny: a defect changes whatever a body has
type Body = any;

/** A request on its way to the control plane; a defect may change it. */
export type PassedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: { [name: string]: string };
  body: Body;
};

/** A reply on its way back; a defect may change it. */
export type PassedReply = { status: number; body: Body; readonly headers: { [name: string]: string } };

/** What is wrong with a control plane: a property that it breaks. */
export type Defect = {
  readonly request?: (request: PassedRequest) => void;
  readonly reply?: (reply: PassedReply, request: PassedRequest) => void;
};

/** A control plane with a defect, and the requests that it was sent, as `METHOD /path`. */
export type DefectiveServer = { readonly url: string; readonly asked: readonly string[] };

/** Starts a proxy before a control plane, which breaks one of its properties. */
export async function defectiveServer(behind: Pick<Server, "url">, defect: Defect): Promise<DefectiveServer> {
  const asked: string[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await read(incoming);
    asked.push(`${request.method} ${request.path}`);
    defect.request?.(request);
    const reply = await pass(behind.url, request);
    defect.reply?.(reply, request);
    response.sendDate = false;
    response.writeHead(reply.status, reply.headers);
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
  });
  return { url: await listen(server), asked };
}

async function read(incoming: IncomingMessage): Promise<PassedRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://localhost");
  const text = (await buffer(incoming)).toString();
  const { host: _, connection: __, "content-length": ___, "accept-encoding": ____, ...headers } = incoming.headers;
  return {
    method: incoming.method ?? "GET",
    path: pathname,
    query: searchParams,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: text === "" ? undefined : JSON.parse(text),
  };
}

async function pass(url: string, { method, path, query, headers, body }: PassedRequest): Promise<PassedReply> {
  const search = query.size === 0 ? "" : `?${query}`;
  const answer = await fetch(`${url}${path}${search}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const {
    connection: _,
    "content-length": __,
    "content-encoding": ___,
    "transfer-encoding": ____,
    "keep-alive": _____,
    ...kept
  } = Object.fromEntries(answer.headers);
  return { status: answer.status, body: await answer.json(), headers: kept };
}
