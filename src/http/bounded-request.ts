import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestInClear } from "node:http";
import { Agent as HttpsAgent, request as requestOverTls } from "node:https";
import { getCACertificates } from "node:tls";

/** A request to a server that is not trusted with more than a reply of a limited size. */
export type BoundedRequest = {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | null;
  /** Certificates to trust besides the system's, PEM. */
  readonly authorities: readonly string[];
  /** The environment variables that name proxies. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The most bytes of the reply. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
};

/** The reply to such a request, of any status. */
export type BoundedReply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer<ArrayBuffer>;
};

/**
 * Sends a request and reads its reply. Unlike `fetch`, it takes certificates for one server, follows the proxies of an
 * environment, and ends a reply that is too large. Redirects are not followed.
 */
export function requestBounded(
  url: string,
  { method = "GET", headers = {}, body = null, authorities, env, maxBytes, signal }: BoundedRequest,
): Promise<BoundedReply> {
  const isTls = url.startsWith("https:");
  const trusted = authorities.length === 0 ? {} : { ca: [...getCACertificates("default"), ...authorities] };
  const agent = isTls
    ? new HttpsAgent({ ...trusted, rejectUnauthorized: true, proxyEnv: env })
    : new HttpAgent({ proxyEnv: env });
  return new Promise<BoundedReply>((resolve, reject) => {
    const options = { method, headers, agent, ...(signal && { signal }) };
    const request = (isTls ? requestOverTls : requestInClear)(url, options, (reply) => {
      const pieces: Buffer[] = [];
      let size = 0;
      reply.on("data", (piece: Buffer) => {
        size += piece.length;
        if (size > maxBytes) reply.destroy(new Error(`${url} answered more than ${maxBytes} bytes`));
        else pieces.push(piece);
      });
      reply.once("error", reject);
      reply.once("end", () => {
        resolve({ status: reply.statusCode ?? 500, headers: reply.headers, body: Buffer.concat(pieces) });
      });
    });
    request.once("error", reject);
    request.end(body ?? undefined);
  }).finally(() => agent.destroy());
}
