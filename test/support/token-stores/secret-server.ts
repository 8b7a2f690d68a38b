import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { type Certificate, createAuthority } from "../../unit/client/certificate.ts";
import { temporaryFolder } from "../folder.ts";
import { listen } from "../listen.ts";

/** A request that the server got. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** How it answers: `cut` breaks the connection without a reply, `silent` never answers. */
export type StoreAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: { readonly [name: string]: string } }
  | "cut"
  | "silent";

/** A server over TLS, with a certificate of an authority of its own; it ends with the test. */
export async function startSecretServer(
  answer: (request: SeenRequest) => StoreAnswer,
): Promise<{ readonly url: string; readonly caFile: string; readonly seen: readonly SeenRequest[] }> {
  const seen: SeenRequest[] = [];
  const authority = createAuthority();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = "", url: path = "", headers } = request;
    const got = { method, path, headers, body };
    seen.push(got);
    const reply = answer(got);
    if (reply === "silent") return;
    if (reply === "cut") return void response.destroy();
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
  };
  const certificate: Certificate = authority.issue("localhost");
  const server = createServer(certificate, handle);
  const address = await listen(server);
  const caFile = join(await temporaryFolder(), "ca.pem");
  await writeFile(caFile, authority.cert);
  return { url: address.replace("http:", "https:"), caFile, seen };
}
