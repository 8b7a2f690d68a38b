import type { FastifyInstance } from "fastify";

/** Adds `/healthz` (it lives) and `/readyz` (it can serve); neither needs a token. */
export function addHealth(app: FastifyInstance, ready: () => Promise<boolean>): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const isReady = await ready().catch(() => false);
    reply.code(isReady ? 200 : 503);
    return { status: isReady ? "ready" : "not ready" };
  });
}
