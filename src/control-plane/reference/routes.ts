import type { FastifyInstance } from "fastify";
import { type DocumentOptions, openApiDocument } from "../openapi/document.ts";
import { referencePage } from "./page.ts";
import { stylesheet } from "./stylesheet.ts";

// The page is text and its own stylesheet: nothing runs in it, and nothing frames it.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds `/openapi.json` and `/docs`, which tell of the interface and of no data: they need no token. */
export function addReference(app: FastifyInstance, options: DocumentOptions): void {
  // Most servers are never asked.
  const document = once(() => openApiDocument(options));
  const json = once(() => JSON.stringify(document()));
  const page = once(() => referencePage(document()));
  serveText(app, "/openapi.json", "application/json; charset=utf-8", json);
  serveText(app, "/docs", "text/html; charset=utf-8", page);
  serveText(app, "/docs/style.css", "text/css; charset=utf-8", () => stylesheet);
}

function serveText(app: FastifyInstance, url: string, type: string, text: () => string): void {
  app.get(url, { exposeHeadRoute: true }, async (_, reply) =>
    reply.type(type).headers({ "content-security-policy": policy, "referrer-policy": "no-referrer" }).send(text()),
  );
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
