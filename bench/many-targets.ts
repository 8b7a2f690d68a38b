import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../src/contract/json.ts";
import type { Measured, Pair } from "./alternate-runs.ts";
import type { Floors } from "./build-floors.ts";
import type { Program } from "./run-program.ts";
import type { BenchControlPlane } from "./start-control-plane.ts";

/** Commands over many targets of one repository, each against the floor of the same manifests as one source. */
export type ManyTargets = { readonly validate: Measured; readonly plan: Measured; readonly apply: Measured };

const TARGETS = 200;
const OF_EACH = 5;

/** How many manifests they have together. */
export const MANIFESTS = TARGETS * OF_EACH;

const BIN = "bin/holdfast.js";

type Place = {
  readonly work: string;
  readonly plane: BenchControlPlane;
  readonly floors: Floors;
  /** Applies a source with a state of its own. */
  readonly apply: (source: string) => Promise<unknown>;
  readonly measure: (label: string, pair: Pair) => Promise<Measured>;
};

/** Measures commands that have nothing to do. */
export async function measureManyTargets({ work, plane, floors, apply, measure }: Place): Promise<ManyTargets> {
  const source = join(work, "repository");
  const config = join(work, "operator.yaml");
  writeRepository(source);
  const operator = {
    sources: [{ name: "platform", url: source }],
    targets: [{ name: "{dir}", each: "clusters/*" }],
  };
  writeFileSync(config, JSON.stringify(operator));
  await apply(source);
  const ours = (args: readonly string[], check: Program["check"]): Pair["ours"] => {
    const flags = ["-o", "json", "--config", config, "--state", join(work, "state")];
    return async () => ({ script: BIN, args: [...args, ...flags], env: plane.env, check });
  };
  const planFloor: Pair["floor"] = async () => ({
    ...{ script: floors.plan, args: [source], env: plane.env },
    check: (result) => (isObject(result) && result.same === MANIFESTS ? null : `same should be ${MANIFESTS}`),
  });
  const validate = await measure("validate of 200 targets", {
    ours: ours(["validate"], ofEach("manifests")),
    floor: async () => ({ script: floors.validate, args: [source], check: () => null }),
  });
  const plan = await measure("plan of 200 targets", { ours: ours(["plan"], ofEach("keep")), floor: planFloor });
  const applied = await measure("apply of one of 200 targets", {
    ours: ours(["apply", "--yes", "--target", "t000"], (result) => wrongCount(result, "unchanged")),
    floor: planFloor,
  });
  return { validate, plan, apply: applied };
}

function writeRepository(folder: string): void {
  for (let nth = 0; nth < MANIFESTS; nth += 1) {
    const target = join(folder, "clusters", `t${String(nth % TARGETS).padStart(3, "0")}`);
    mkdirSync(target, { recursive: true });
    const manifest = { type: "team", name: `team-${nth}`, members: ["ada@example.com"] };
    writeFileSync(join(target, `team-${nth}.yaml`), JSON.stringify(manifest));
  }
  const author = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "-A"],
    [...author, "commit", "--quiet", "-m", "first"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: folder });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
}

function wrongCount(result: unknown, name: string): string | null {
  const summary = isObject(result) && isObject(result.summary) ? result.summary : {};
  return summary[name] === OF_EACH ? null : `${name} should be ${OF_EACH}: ${JSON.stringify(result).slice(0, 500)}`;
}

function ofEach(name: string): Program["check"] {
  return (result) => {
    const targets = isObject(result) && Array.isArray(result.targets) ? result.targets : [];
    if (targets.length !== TARGETS) return `there should be ${TARGETS} targets, not ${targets.length}`;
    return targets.map((one) => wrongCount(one, name)).find((fault) => fault !== null) ?? null;
  };
}
