import { once } from "node:events";
import { createServer, type Server, type Socket, connect as socketTo } from "node:net";
import { onTestFinished } from "vitest";

/** When the connection is closed: before the text reaches the server, or before the reply reaches the client. */
type Moment = "before it arrives" | "before its answer arrives";

/** A TCP proxy in front of a server, whose connections a test can break. */
export type BreakableProxy = {
  readonly port: number;
  /** Closes all connections, and refuses new ones until `restore`. */
  readonly disconnect: () => Promise<void>;
  readonly restore: () => Promise<void>;
  /** Forwards nothing more on the open connections. */
  readonly stall: () => void;
  /** Forwards nothing more, also on new connections, until `restore` closes them. */
  readonly silence: () => void;
  /** Closes all connections once. */
  readonly closeAll: () => void;
  /** Closes the next connection on which the client sends this text; resolves when it has. */
  readonly breakAt: (text: string, moment: Moment) => Promise<void>;
};

type Break = { readonly text: string; readonly moment: Moment; readonly done: () => void };

/** Starts a proxy to a port of this machine, at an address of this machine; it ends with the test. */
export async function startBreakableProxy(port: number, host = "127.0.0.1"): Promise<BreakableProxy> {
  const sockets = new Set<Socket>();
  let pending: Break | null = null;
  const takeBreak = (chunk: Buffer): Break | null => {
    if (pending === null || !chunk.includes(pending.text)) return null;
    const found = pending;
    pending = null;
    return found;
  };
  let isSilent = false;
  const server = createServer((client) => {
    if (isSilent) {
      sockets.add(client.on("error", () => {}));
      return;
    }
    const target = socketTo(port, "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
    join(client, target, takeBreak);
  });
  const chosen = await listen(server, { port: 0, host });
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const stall = () => {
    for (const socket of sockets) socket.pause();
  };
  const disconnect = async () => {
    const closed = once(server, "close");
    server.close();
    closeAll();
    await closed;
  };
  onTestFinished(async () => {
    if (server.listening) await disconnect();
  });
  return {
    port: chosen,
    disconnect,
    restore: async () => {
      if (isSilent) closeAll();
      isSilent = false;
      if (!server.listening) await listen(server, { port: chosen, host });
    },
    stall,
    silence: () => {
      isSilent = true;
      stall();
    },
    closeAll,
    breakAt: (text, moment) =>
      new Promise((done) => {
        pending = { text, moment, done };
      }),
  };
}

/** Forwards bytes both ways until one side ends, or the client sends the text of a break. */
function join(client: Socket, target: Socket, takeBreak: (chunk: Buffer) => Break | null): void {
  const both = [client, target];
  const end = () => {
    for (const socket of both) socket.destroy();
  };
  for (const socket of both) socket.setNoDelay(true).on("error", end).on("close", end);
  let withheld: Break | null = null;
  client.on("data", (chunk) => {
    const found = takeBreak(chunk);
    if (found?.moment === "before it arrives") {
      end();
      return found.done();
    }
    withheld ??= found;
    target.write(chunk);
  });
  target.on("data", (chunk) => {
    if (withheld === null) return void client.write(chunk);
    end();
    withheld.done();
  });
}

async function listen(server: Server, at: { readonly port: number; readonly host: string }): Promise<number> {
  server.listen(at);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return address.port;
}
