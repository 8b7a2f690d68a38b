import type { FastifyInstance } from "fastify";

/** Adds `/healthz` (it lives) and `/readyz` (it can serve, or why not); neither needs a token. */
export function addHealthRoutes(app: FastifyInstance, unready: () => Promise<string | null>): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const reason = await unready().catch(() => "unavailable");
    reply.code(reason === null ? 200 : 503);
    return reason === null ? { status: "ready" } : { status: "not ready", reason };
  });
}
