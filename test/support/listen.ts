import type { Server } from "node:http";
import { onTestFinished } from "vitest";

/** Starts a server on a port from the kernel, and answers its address; it ends with the test. */
export async function listen(
  server: Server,
  onFinished: (end: () => void) => void = (end) => onTestFinished(end),
): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return `http://127.0.0.1:${address.port}`;
}
