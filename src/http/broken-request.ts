import type { Socket } from "node:net";

const brokenRequests: { readonly [code: string]: readonly [status: number, text: string, code: string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "headers-too-large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "request-timeout"],
};

/** Answers bytes that Node could not parse as a request. It writes to the socket, since no reply object exists. */
export function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const [statusCode, message, code] = brokenRequests[error.code ?? ""] ?? [400, "Bad Request", "bad-request"];
  const body = JSON.stringify({ statusCode, message, code });
  const head = [
    `HTTP/1.1 ${statusCode} ${message}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
