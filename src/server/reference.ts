import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import { once } from "../model/once.ts";
import type { Context } from "./context.ts";
import { rolloutNotes } from "./rollouts/rollout-driver.ts";

// Loaded as a module, since the files of a single executable are in it alone.
const load = createRequire(import.meta.url);

// The page has no scripts and may not be framed.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds `/openapi.json` and `/docs`; they contain no data and need no token. */
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
  // Relative, since a proxy may add a path prefix.
  app.get("/docs/", { exposeHeadRoute: true }, async (_, reply) => reply.redirect("../docs", 308));
}

// The build makes it from the table of operations and the resources.
function readReference(
  documentedOnly: boolean,
  unknownFields: "refuse" | "allow",
): { readonly openApi: string; readonly page: string; readonly stylesheet: string } {
  return load(`./generated/reference/${documentedOnly ? "documented" : "all"}-${unknownFields}.json`);
}

function serveText(app: FastifyInstance, url: string, type: string, text: () => string): void {
  app.get(url, { exposeHeadRoute: true }, async (_, reply) =>
    reply.type(type).headers({ "content-security-policy": policy, "referrer-policy": "no-referrer" }).send(text()),
  );
}
