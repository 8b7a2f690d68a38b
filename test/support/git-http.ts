import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Certificate } from "../unit/client/certificate.ts";

/** Repositories of a folder, served over HTTP by git's own program. */
export type GitHttp = {
  readonly url: string;
  /** Every request's path, and the credentials that came with it. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | null }[];
  /** What is asked of callers from now on: null for nothing. */
  readonly require: (authorization: string | null) => void;
  /** Answers every request with this status from now on; null for git's own answers. */
  readonly answerWith: (status: number | null) => void;
  /** Shows this certificate from now on, where it speaks TLS. */
  readonly show: (certificate: Certificate) => void;
};

/** Serves the repositories below a folder on loopback until the test is over; over TLS where a certificate is given. */
export async function serveGit(folder: string, certificate: Certificate | null = null): Promise<GitHttp> {
  const requests: { path: string; authorization: string | null }[] = [];
  let required: string | null = null;
  let status: number | null = null;
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = "/", headers } = request;
    const authorization = headers.authorization ?? null;
    requests.push({ path: url, authorization });
    if (status !== null) return void response.writeHead(status).end();
    if (required !== null && authorization !== required) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    }
    answer(folder, request, response);
  };
  const secure = certificate === null ? null : createTlsServer(certificate, serve);
  const server = secure ?? createServer(serve);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === null ? "http" : "https"}://127.0.0.1:${port}`,
    requests,
    show: (next) => secure?.setSecureContext(next),
    require: (authorization) => {
      required = authorization;
    },
    answerWith: (next) => {
      status = next;
    },
  };
}

function answer(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["-c", "safe.directory=*", "http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.on("error", () => response.destroy());
  request.on("error", () => child.kill()).pipe(child.stdin.on("error", () => undefined));
  let head = Buffer.alloc(0);
  child.stdout.on("data", (part: Buffer) => {
    if (response.headersSent) return void response.write(part);
    head = Buffer.concat([head, part]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    const fields = head
      .toString("latin1", 0, end)
      .split("\r\n")
      .map((line) => line.split(": ") as [string, string]);
    const status = fields.find(([name]) => name === "Status")?.[1] ?? "200";
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields.filter(([name]) => name !== "Status")));
    response.write(head.subarray(end + 4));
  });
  child.stdout.on("end", () => response.end());
}

/** A host that has one branch, and sends messages in place of its objects until the caller goes. */
export async function serveFlood(): Promise<string> {
  const pkt = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text;
  const hello = [pkt("# service=git-upload-pack\n"), "0000", pkt("version 2\n"), pkt("ls-refs=unborn\n")];
  const capabilities = [...hello, pkt("fetch=shallow\n"), pkt("object-format=sha1\n"), "0000"].join("");
  const message = pkt(`\u0002${"all work and no play ".repeat(100)}\n`).repeat(20);
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const service = request.method === "GET" ? "advertisement" : "result";
    response.writeHead(200, { "content-type": `application/x-git-upload-pack-${service}` });
    if (request.method === "GET") return void response.end(capabilities);
    if (body.includes("command=ls-refs")) return void response.end(`${pkt(`${"a".repeat(40)} refs/heads/main\n`)}0000`);
    response.on("error", () => undefined).write(pkt("packfile\n"));
    const flood = (): void => {
      while (!response.destroyed && response.write(message));
    };
    response.on("drain", flood);
    flood();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
