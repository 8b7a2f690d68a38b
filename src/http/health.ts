import type { FastifyInstance } from "fastify";

/** Whether a process can serve; a reason is one word without details, since anyone may read it. */
export type Readiness =
  | { readonly is: "ready" }
  /** It serves everything but what the reason names. */
  | { readonly is: "degraded"; readonly reason: string }
  /** It can serve, and waits for another process that works. */
  | { readonly is: "standing-by" }
  | { readonly is: "not-ready"; readonly reason: string };

/** Adds `/healthz` (liveness) and `/readyz` (readiness, or the reason why not); neither needs a token. */
export function addHealthRoutes(app: FastifyInstance, readiness: () => Promise<Readiness>): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const now = await readiness().catch(() => UNAVAILABLE);
    reply.code(now.is === "not-ready" ? 503 : 200);
    return replyTo(now);
  });
}

const UNAVAILABLE: Readiness = { is: "not-ready", reason: "unavailable" };

function replyTo(readiness: Readiness) {
  switch (readiness.is) {
    case "ready":
      return { status: "ready" };
    case "degraded":
      return { status: "ready", degraded: readiness.reason };
    case "standing-by":
      return { status: "standing by" };
    case "not-ready":
      return { status: "not ready", reason: readiness.reason };
  }
}
