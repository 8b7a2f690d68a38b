import { createServer, type IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";

/** A server that answers everything with 200, and remembers who asked for what. */
export type RecordingServer = {
  readonly url: string;
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
};

/** Starts one on loopback, on that port where it is given; it ends with the test. */
export async function startRecordingServer(port = 0): Promise<RecordingServer> {
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    requests.push({ path: url, headers });
    response.setHeader("content-type", "application/json");
    response.end('{"data":[],"pagination":{"total":0,"offset":0,"limit":1000}}');
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return { url: `http://127.0.0.1:${address.port}`, requests };
}
