import type { JsonObject } from "../../src/contract/json.ts";
import type { Server } from "./server.ts";

/** Makes a service in somebody else's name, with more than our manifest says. */
export async function foreignService(server: Server): Promise<void> {
  const theirs = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    image: { type: "image", image_uri: "registry.example.com/api:1.0.0" },
    ports: [{ port: 8080 }],
    replicas: 4,
    env: { QUEUE: "orders" },
  };
  await deployAs("others", theirs, server);
}

/** Deploys a manifest as a virtual account that this makes. */
export async function deployAs(account: string, manifest: JsonObject, server: Server): Promise<void> {
  const permissions = [{ resource_type: "workspace", resource_fqn: "dev:web", role_id: "workspace-editor" }];
  const subject = { type: "virtual-account", name: account, permissions };
  const { token } = await server.call("PUT", "/api/svc/v1/virtual-accounts", { manifest: subject });
  const answer = await fetch(`${server.url}/api/svc/v1/apps`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ manifest }),
  });
  if (!answer.ok) throw new Error(`the service was answered with ${answer.status}: ${await answer.text()}`);
}
