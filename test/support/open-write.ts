import { expect } from "vitest";
import { startHoldingProxy } from "./holding-proxy.ts";
import { foundations, service, team } from "./manifests.ts";
import type { Server } from "./server.ts";
import { sourceOf } from "./source.ts";

const files = { ...foundations, "api.yaml": service("api"), "team.yaml": team("ml") };

/** A source whose apply was killed while a write was on its way: it has arrived, or may still. */
export async function interrupted(
  server: Server,
  path: string,
  { arrives }: { readonly arrives: boolean },
  seconds = 1,
) {
  const source = await sourceOf(foundations, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(files)) await source.write(file, text);
  const gate = await startHoldingProxy(server);
  const held = arrives ? gate.hold("PUT", path) : gate.delay("PUT", path);
  const kind = path.endsWith("apps") ? "service" : "team";
  const applying = ["apply", "--yes", "--no-wait", "--kind", kind, "--request-timeout", `${seconds}`];
  const apply = source.start(applying, { HOLDFAST_SERVER: gate.url });
  await held;
  apply.kill("SIGKILL");
  await apply.ended;
  // One server by name, whichever way: what the journal has is of that name.
  return { source, env: { HOLDFAST_SERVER: gate.url }, gate };
}

/** Deploys something else in place of what was on its way. */
export async function writeElsewhere(server: Server): Promise<void> {
  const image = { type: "image", image_uri: "registry.example.com/api:9" };
  const manifest = { type: "service", name: "api", workspace_fqn: "dev:web", image, ports: [{ port: 8080 }] };
  await server.call("PUT", "/api/svc/v1/apps", { manifest });
}
