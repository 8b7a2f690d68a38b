import type { FastifyInstance } from "fastify";

/** Adds `/healthz` (liveness) and `/readyz` (readiness, or the reason why not); neither needs a token. */
export function addHealthRoutes(app: FastifyInstance, unready: () => Promise<string | null>): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const reason = await unready().catch(() => "unavailable");
    reply.code(reason === null ? 200 : 503);
    return reason === null ? { status: "ready" } : { status: "not ready", reason };
  });
}
