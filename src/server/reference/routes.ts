import type { FastifyInstance } from "fastify";
import type { DocumentOptions } from "../openapi/document.ts";

// The page is text and its own stylesheet: nothing runs in it, and nothing frames it.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds `/openapi.json` and `/docs`, which tell of the interface and of no data: they need no token. */
export function addReference(app: FastifyInstance, options: DocumentOptions): void {
  // Most servers are never asked: what makes the documents is loaded when somebody does.
  const document = once(async () => (await import("../openapi/document.ts")).openApiDocument(options));
  const json = once(async () => JSON.stringify(await document()));
  const page = once(async () => (await import("./page.ts")).referencePage(await document()));
  const stylesheet = async () => (await import("./stylesheet.ts")).stylesheet;
  serveText(app, "/openapi.json", "application/json; charset=utf-8", json);
  serveText(app, "/docs", "text/html; charset=utf-8", page);
  serveText(app, "/docs/style.css", "text/css; charset=utf-8", stylesheet);
  // Relative, since a proxy may serve it all under a prefix.
  app.get("/docs/", { exposeHeadRoute: true }, async (_, reply) => reply.redirect("../docs", 308));
}

function serveText(app: FastifyInstance, url: string, type: string, text: () => Promise<string>): void {
  app.get(url, { exposeHeadRoute: true }, async (_, reply) =>
    reply
      .type(type)
      .headers({ "content-security-policy": policy, "referrer-policy": "no-referrer" })
      .send(await text()),
  );
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
