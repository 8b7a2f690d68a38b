import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Certificate } from "../unit/client/certificate.ts";
import type { Server } from "./server.ts";

/** A TLS proxy in front of a control plane. */
export type TlsProxy = {
  readonly url: string;
  /** Uses this certificate from now on, and ends the connections that were made with the former one. */
  readonly show: (certificate: Certificate) => void;
};

/** Starts the proxy; it ends with the test. */
export async function startTlsProxy({ url }: Pick<Server, "url">, certificate: Certificate): Promise<TlsProxy> {
  const front = createServer(certificate, (asked, reply) => {
    const { method, headers, url: path } = asked;
    const passed = request(new URL(path ?? "/", url), { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    asked.pipe(passed.on("error", () => reply.destroy()));
  });
  await once(front.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    front.closeAllConnections();
    front.close();
  });
  const { port } = front.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    show: (next) => {
      front.setSecureContext(next);
      front.closeAllConnections();
    },
  };
}
