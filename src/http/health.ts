import type { FastifyInstance } from "fastify";

/** What `/readyz` says: why requests cannot be served, as one word without details, or whether another process works. */
export type Readiness = {
  readonly unready: () => Promise<string | null>;
  /** Whether the process is ready, and waits for another one. @default () => false */
  readonly standsBy?: () => boolean;
};

/** Adds `/healthz` (liveness) and `/readyz` (readiness, or the reason why not); neither needs a token. */
export function addHealthRoutes(app: FastifyInstance, { unready, standsBy = () => false }: Readiness): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const reason = await unready().catch(() => "unavailable");
    reply.code(reason === null ? 200 : 503);
    if (reason !== null) return { status: "not ready", reason };
    return { status: standsBy() ? "standing by" : "ready" };
  });
}
