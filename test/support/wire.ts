import { once } from "node:events";
import { createServer, type Server, type Socket, connect as socketTo } from "node:net";
import { onTestFinished } from "vitest";

/** When a connection breaks that says something: before the other side hears of it, or before its answer is heard. */
type Moment = "before it arrives" | "before its answer arrives";

/** A way to a server of any protocol, on which connections can be broken. */
export type Wire = {
  readonly port: number;
  /** Breaks all connections, and refuses new ones until it is mended. */
  readonly cut: () => Promise<void>;
  readonly mend: () => Promise<void>;
  /** Lets nothing through any more on the connections that there are. */
  readonly hush: () => void;
  /** Breaks all connections once. */
  readonly shake: () => void;
  /** Breaks the next connection that says this; resolves when it has. */
  readonly breakAt: (text: string, moment: Moment) => Promise<void>;
};

type Trap = { readonly text: string; readonly moment: Moment; readonly sprung: () => void };

/** Lays a wire to a port of this machine. */
export async function wireTo(port: number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let trap: Trap | null = null;
  const spring = (chunk: Buffer): Trap | null => {
    if (trap === null || !chunk.includes(trap.text)) return null;
    const found = trap;
    trap = null;
    return found;
  };
  const server = createServer((client) => {
    const target = socketTo(port, "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
    join(client, target, spring);
  });
  const chosen = await listen(server, 0);
  const shake = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = async () => {
    const closed = once(server, "close");
    server.close();
    shake();
    await closed;
  };
  onTestFinished(async () => {
    if (server.listening) await cut();
  });
  return {
    port: chosen,
    cut,
    mend: async () => void (await listen(server, chosen)),
    hush: () => {
      for (const socket of sockets) socket.pause();
    },
    shake,
    breakAt: (text, moment) =>
      new Promise((sprung) => {
        trap = { text, moment, sprung };
      }),
  };
}

/** Carries bytes both ways until one side ends, or the client says what springs a trap. */
function join(client: Socket, target: Socket, spring: (chunk: Buffer) => Trap | null): void {
  const both = [client, target];
  const end = () => {
    for (const socket of both) socket.destroy();
  };
  for (const socket of both) socket.setNoDelay(true).on("error", end).on("close", end);
  let swallowing: Trap | null = null;
  client.on("data", (chunk) => {
    const found = spring(chunk);
    if (found?.moment === "before it arrives") {
      end();
      return found.sprung();
    }
    swallowing ??= found;
    target.write(chunk);
  });
  target.on("data", (chunk) => {
    if (swallowing === null) return void client.write(chunk);
    end();
    swallowing.sprung();
  });
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return address.port;
}
