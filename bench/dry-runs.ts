import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../src/contract/json.ts";
import type { Pair } from "./alternate-runs.ts";
import type { Floors } from "./build-floors.ts";
import { type Program, runProgram } from "./run-program.ts";
import type { BenchControlPlane } from "./start-control-plane.ts";

const foundations: readonly JsonObject[] = [
  { type: "cluster", name: "dry-runs", cluster_type: "generic" },
  { type: "workspace", name: "web", cluster_fqn: "dry-runs" },
  // A dry run of one that exists proves that dry runs change nothing.
  serviceNamed("there"),
];

type Place = {
  readonly plane: BenchControlPlane;
  readonly count: number;
  readonly concurrency: number;
  readonly floors: Floors;
};

/** A plan of new services alone, each of which the control plane is asked about, against the same dry runs. */
export async function dryRunPair(work: string, { plane, count, concurrency, floors }: Place): Promise<Pair> {
  const [source, state, bodies] = [join(work, "source"), join(work, "state"), join(work, "bodies.json")];
  const services = Array.from({ length: count }, (_, nth) => serviceNamed(`svc-${nth}`));
  mkdirSync(source, { recursive: true });
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(bodies, JSON.stringify(services));
  const flags = ["-o", "json", "--source", source, "--state", state, "--concurrency", String(concurrency)];
  const command = { script: "bin/holdfast.js", env: plane.env };
  write(source, foundations);
  await runProgram({
    ...command,
    args: ["apply", "--yes", "--allow-privilege", "--no-wait", ...flags],
    check: () => null,
  });
  write(source, services);
  const ours: Program = { ...command, args: ["plan", ...flags], check: created(count) };
  return {
    ours: async () => ours,
    floor: async () => ({
      script: floors["dry-runs"],
      args: [bodies, String(concurrency)],
      env: plane.env,
      check: () => null,
    }),
  };
}

function serviceNamed(name: string): JsonObject {
  return {
    type: "service",
    name,
    workspace_fqn: "dry-runs:web",
    image: { type: "image", image_uri: `registry.example.com/${name}:1.0.0` },
    ports: [{ port: 8080 }],
    replicas: 2,
  };
}

function write(folder: string, manifests: readonly JsonObject[]): void {
  for (const manifest of manifests) {
    const lines = Object.entries(manifest).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
    writeFileSync(join(folder, `${manifest.type}-${manifest.name}.yaml`), lines.join(""));
  }
}

// One that was not asked about would make the plan too fast.
function created(count: number): Program["check"] {
  return (result) => {
    const summary = isObject(result) && isObject(result.summary) ? result.summary : {};
    const isWhole = summary.create === count && summary.block === 0 && (summary.notChecked ?? 0) === 0;
    return isWhole ? null : `${count} should be created and checked: ${JSON.stringify(summary)}`;
  };
}
