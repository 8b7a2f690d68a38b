import { spawnSync } from "node:child_process";

/** Writes a bare repository whose branch `main` has so many manifests: a workspace and its services. */
export function writeRepository(
  folder: string,
  { workspace, manifests }: { readonly workspace: string; readonly manifests: number },
): void {
  git(["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  const services = Array.from({ length: manifests - 1 }, (_, nth) =>
    file(`services/${serviceName(nth)}.yaml`, service(workspace, nth)),
  );
  const first = file("workspace.yaml", `type: workspace\nname: ${workspace}\ncluster_fqn: bench\n`);
  commit(folder, 1, [first, ...services]);
}

/** The name of a service in its workspace. */
export const serviceName = (nth: number): string => `s${nth}`;

/** Changes one service of a repository. */
export function changeRepository(folder: string, workspace: string): void {
  commit(folder, 2, ["from refs/heads/main^0\n", file(`services/${serviceName(0)}.yaml`, service(workspace, 0, 7))]);
}

function commit(folder: string, nth: number, lines: readonly string[]): void {
  const head = `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_800_000_000 + nth} +0000\ndata 6\nChange\n`;
  git(["-C", folder, "fast-import", "--quiet"], head + lines.join(""));
}

function file(path: string, text: string): string {
  return `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

/** The manifest of a service, as text. */
export function service(workspace: string, nth: number, replicas = 2): string {
  return `type: service
name: ${serviceName(nth)}
workspace_fqn: bench:${workspace}
image:
  type: image
  image_uri: registry.example.com/${workspace}/${serviceName(nth)}:1.0.0
ports:
  - { port: 8080, protocol: TCP, expose: false, app_protocol: http }
env: { LOG_LEVEL: info, REGION: eu-central-1, CACHE_SECONDS: 60 }
resources: { cpu_request: 0.5, cpu_limit: 1, memory_request: 500, memory_limit: 1000 }
labels: { team: ml, tier: backend }
replicas: ${replicas}
`;
}

function git(args: readonly string[], input = ""): void {
  const { status, stderr } = spawnSync("git", args, { input });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
}
