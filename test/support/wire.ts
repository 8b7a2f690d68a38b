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
  const server = createServer((client) => {
    const target = socketTo(port, "127.0.0.1");
    const both = [client, target];
    const end = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    let isSwallowing: Trap | null = null;
    client.on("data", (chunk) => {
      if (trap !== null && chunk.includes(trap.text)) {
        const found = trap;
        trap = null;
        if (found.moment === "before it arrives") {
          end();
          found.sprung();
          return;
        }
        isSwallowing = found;
      }
      target.write(chunk);
    });
    target.on("data", (chunk) => {
      if (isSwallowing === null) return void client.write(chunk);
      end();
      isSwallowing.sprung();
    });
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
    hush: () => {
      for (const socket of sockets) socket.pause();
    },
    shake,
    mend: async () => void (await listen(server, chosen)),
    breakAt: (text, moment) =>
      new Promise((sprung) => {
        trap = { text, moment, sprung };
      }),
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return address.port;
}
