import { readFileSync } from "node:fs";

// `npm run scale -- prod-eu:support assistant 5`: changes the replicas of a service on the embedded control plane, past
// git, as somebody does on the platform's own page. The daemon, or `holdfast drift`, finds it.
const data = ".holdfast/control-plane";
const apps = `${text("endpoint")}/api/svc/v1/apps`;
const headers = { authorization: `Bearer ${text("admin-token")}`, "content-type": "application/json" };

const [workspace = "", name = "", replicas = ""] = process.argv.slice(2);
if (!/^\d+$/.test(replicas)) fail("usage: npm run scale -- WORKSPACE SERVICE REPLICAS");

const query = `workspaceFqn=${encodeURIComponent(workspace)}`;
const { data: found } = JSON.parse(await replyTo(`${apps}?${query}`));
const application = found.find(({ name: given }: { readonly name: string }) => given === name);
if (application === undefined) fail(`there is no service ${name} in ${workspace}`);
const { manifest } = application.deployment;
const body = JSON.stringify({ manifest: { ...manifest, workspace_fqn: workspace, replicas: Number(replicas) } });
await replyTo(apps, { method: "PUT", body });
console.log(`${workspace}/${name} has ${replicas} replicas, and git does not know`);

function text(file: string): string {
  return readFileSync(`${data}/${file}`, "utf8").trim();
}

async function replyTo(url: string, request: RequestInit = {}): Promise<string> {
  const reply = await fetch(url, { ...request, headers });
  const body = await reply.text();
  return reply.ok ? body : fail(body);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
