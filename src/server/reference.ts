import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip, inflateRawSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { once } from "../model/once.ts";
import type { Context } from "./context.ts";
import { rolloutNotes } from "./rollouts/rollout-driver.ts";

// Loaded as a module, since the files of a single executable are in it alone.
const load = createRequire(import.meta.url);

// The page runs its own script and calls this server, and nothing else; it may not be framed.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Adds `/`, `/openapi.json` and `/docs`; they contain no data and need no token. */
export function addReference(
  app: FastifyInstance,
  documentedOnly: boolean,
  { unknownFields, rollouts }: Pick<Context, "unknownFields" | "rollouts">,
): void {
  // Read at the first request, since most servers get none.
  const reference = once(() => readReference(documentedOnly, unknownFields));
  const { simulated, program } = rolloutNotes;
  const told = (text: string) => (rollouts.programs === undefined ? text : text.replaceAll(simulated, program));
  serveText(app, "/openapi.json", "application/json; charset=utf-8", () => told(reference().openApi));
  serveText(app, "/docs", "text/html; charset=utf-8", () => told(reference().page));
  serveText(app, "/docs/style.css", "text/css; charset=utf-8", () => reference().stylesheet);
  serveText(app, "/docs/page.js", "text/javascript; charset=utf-8", () => reference().script);
  // Relative, since a proxy may add a path prefix.
  app.get("/docs/", { exposeHeadRoute: true }, async (_, reply) => reply.redirect("../docs", 308));
  app.get("/", { exposeHeadRoute: true }, async ({ headers: { accept = "" } }, reply) => {
    reply.header("vary", "accept");
    return accept.includes("text/html") ? reply.redirect("docs", 302) : { docs: "docs", openapi: "openapi.json" };
  });
}

// The build makes it from the table of operations and the resources.
function readReference(
  documentedOnly: boolean,
  unknownFields: "refuse" | "allow",
): { readonly openApi: string; readonly page: string; readonly stylesheet: string; readonly script: string } {
  const packed = load(`./generated/reference/${documentedOnly ? "documented" : "all"}-${unknownFields}.json`);
  return { ...packed, openApi: unpacked(packed.openApi), page: unpacked(packed.page) };
}

function unpacked(text: string): string {
  return inflateRawSync(Buffer.from(text, "base64")).toString();
}

const compress = promisify(gzip);

function serveText(app: FastifyInstance, url: string, type: string, text: () => string): void {
  // It never changes, and has nothing secret whose length could tell of it.
  const compressed = once(() => compress(text()));
  app.get(url, { exposeHeadRoute: true }, async ({ headers: { "accept-encoding": accepted = "" } }, reply) => {
    reply.type(type);
    reply.headers({ "content-security-policy": policy, "referrer-policy": "no-referrer", vary: "accept-encoding" });
    if (!/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(accepted))) return text();
    reply.header("content-encoding", "gzip");
    return compressed();
  });
}
