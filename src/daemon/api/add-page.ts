import { createRequire } from "node:module";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { once } from "../../model/once.ts";
import { SIGN_IN } from "../http/page-access.ts";
import { type DashboardReaders, dashboardHeaders, requireHost, requireReader } from "./add-api.ts";

// Loaded as a module, since the files of a single executable are in it alone.
const load = createRequire(import.meta.url);

type DashboardPage = {
  readonly build: string;
  readonly files: { readonly [path: string]: { readonly type: string; readonly text: string } };
};

/** The page that the build has made of `src/dashboard`. */
const page = once((): DashboardPage => load("./generated/dashboard/page.json"));

/** What the page was built from. */
export function pageBuild(): string {
  return page().build;
}

/** Adds the page of the dashboard: at `/`, and at the addresses of its screens. */
export function addPage(app: FastifyInstance, readers: DashboardReaders): void {
  for (const [url, path] of [
    ["/", "/"],
    ["/targets/:target", "/"],
    ["/targets/:target/history", "/"],
    ["/targets/:target/resources/*", "/"],
    ["/reviews", "/"],
    ["/reviews/:plan", "/"],
    ["/assets/:name", null],
  ] as const) {
    app.get(url, async (request, reply) => {
      if (path !== null && mustSignIn(request, readers)) {
        return reply.header("cache-control", "no-store").redirect(`${SIGN_IN}?to=${encodeURIComponent(request.url)}`);
      }
      requireReader(request, readers);
      const asked = path ?? new URL(request.url, "http://localhost").pathname;
      const { files } = page();
      const file = Object.hasOwn(files, asked) ? files[asked] : undefined;
      if (file === undefined) return reply.callNotFound();
      return reply.headers(dashboardHeaders).type(file.type).send(file.text);
    });
  }
}

/** Whether a browser that opens the page has to sign in first. */
function mustSignIn(request: FastifyRequest, { access, hosts }: DashboardReaders): boolean {
  requireHost(request, hosts());
  return access.signIn?.isOn() === true && !access.isStillAllowed(request);
}
