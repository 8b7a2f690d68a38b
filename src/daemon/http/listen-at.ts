import type { FastifyInstance } from "fastify";
import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { listen } from "../../http/server.ts";

/** Starts listening at the address of `--listen`; resolves with it as a URL. */
export async function listenAt(app: FastifyInstance, host: string, port: number): Promise<string> {
  return listen(app, host, port).catch((cause: unknown) => {
    const why = errorMessage(cause);
    throw new HoldfastError("error", `--listen ${host}:${port} is not possible: ${why}`, {
      hint: "name another address, or end what listens there",
      cause,
    });
  });
}
