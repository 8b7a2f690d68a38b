import { Agent, createServer, request } from "node:http";

/** A proxy in front of a control plane that counts the requests to it. */
export type CountingGate = AsyncDisposable & {
  readonly url: string;
  /** The address of the control plane itself. */
  readonly uncounted: string;
  readonly requests: () => number;
  /** Answers digests from now on as a control plane that has none. */
  readonly refuseDigests: () => void;
};

/** Opens one at an address of this machine, in this process, so that it takes none of the time that is measured. */
export async function openGate(server: string, host: string): Promise<CountingGate> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let [requests, refuses] = [0, false];
  const gate = createServer((message, reply) => {
    requests += 1;
    if (refuses && message.url?.startsWith("/api/svc/v1/digests")) {
      reply
        .writeHead(404, { "content-type": "application/json" })
        .end('{"statusCode":404,"message":"no such operation"}');
      return;
    }
    const { method, url, headers } = message;
    const onward = request(new URL(url ?? "/", server), { agent, method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    onward.on("error", () => reply.destroy());
    message.pipe(onward);
  });
  gate.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => gate.listen(0, host, listening));
  const address = gate.address();
  if (address === null || typeof address === "string") throw new TypeError("it listens on no port");
  return {
    url: `http://${host}:${address.port}`,
    uncounted: server,
    requests: () => requests,
    refuseDigests: () => {
      refuses = true;
    },
    [Symbol.asyncDispose]: async () => {
      gate.closeAllConnections();
      gate.close();
      agent.destroy();
    },
  };
}
