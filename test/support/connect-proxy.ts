import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** An HTTP proxy that makes tunnels alone, as CONNECT asks for them. */
export type ConnectProxy = {
  readonly url: string;
  /** Where tunnels led, host and port. */
  readonly tunnels: readonly string[];
  /** Refuses every tunnel from now on, or makes them again. */
  readonly refuse: (refuses: boolean) => void;
};

/** Starts a proxy on loopback that runs until the test is over. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const tunnels: string[] = [];
  const open = new Set<Socket>();
  let isRefusing = false;
  const proxy = createServer((_, response) => void response.writeHead(405).end());
  proxy.on("connect", ({ url = "" }, socket: Socket) => {
    tunnels.push(url);
    if (isRefusing) return void socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    const { hostname, port } = new URL(`http://${url}`);
    const far = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(socket).pipe(far);
    });
    for (const end of [socket, far]) {
      open.add(end);
      end.on("error", () => end.destroy()).on("close", () => open.delete(end));
    }
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const end of open) end.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    tunnels,
    refuse: (refuses) => {
      isRefusing = refuses;
    },
  };
}
