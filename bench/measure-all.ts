import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject } from "../src/contract/json.ts";
import { alternateRuns, type Measured, type Pair } from "./alternate-runs.ts";
import { buildFloors, type Floors } from "./build-floors.ts";
import { corpus, withFault, writeCorpus } from "./corpus/corpus.ts";
import { type DaemonPasses, measureDaemon } from "./daemon.ts";
import { type DashboardTimes, measureDashboard } from "./dashboard.ts";
import { dryRunPair } from "./dry-runs.ts";
import { MANIFESTS as MANY_TARGETS_MANIFESTS, type ManyTargets, measureManyTargets } from "./many-targets.ts";
import { measurePushes, type Pushes } from "./push.ts";
import { type Program, runProgram } from "./run-program.ts";
import { type BenchControlPlane, far, singleReads, startControlPlane } from "./start-control-plane.ts";

/** What the bench is asked to measure. */
export type Size = { readonly count: number; readonly pairs: number; readonly concurrency: number };

/** Everything that was measured. */
export type Results = {
  readonly startUp: Measured;
  readonly dashboard: DashboardTimes;
  readonly validate: Measured;
  /** One fault in each file, against none. */
  readonly faulty: Measured;
  /** Null for more manifests than its goal is set for. */
  readonly applies: { readonly near: Measured; readonly far: Measured } | null;
  readonly coldPlan: Measured;
  readonly warmPlan: Measured;
  /** Everything that is live, as new files. */
  readonly imported: Measured;
  readonly daemon: DaemonPasses;
  readonly pushes: Pushes;
  readonly documentedPlan: Measured;
  readonly smallPlan: Measured;
  /** New services alone, against the same dry runs. */
  readonly dryRuns: Measured;
  /** Commands over many targets of one repository. */
  readonly manyTargets: ManyTargets;
};

const BIN = "bin/holdfast.js";

/** How much later a request arrives at a control plane that is far away, in milliseconds. */
const FAR = 20;

/** Errors that a report lists, and the one that counts the others. */
const MAX_LISTED_ERRORS = 10_001;

/** The number of manifests that the goals are set for. */
export const GOALS = 10_000;

/** How many manifests a small repository has. */
const SMALL = 100;

/** Runs every measure in a folder of its own, which is gone afterwards. */
export async function measureAll(size: Size, note: (line: string) => void): Promise<Results> {
  const work = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const planes: BenchControlPlane[] = [];
  const measure = (label: string, pair: Pair) => {
    note(label);
    return alternateRuns(pair, { pairs: size.pairs, note });
  };
  try {
    const source = join(work, "source");
    const bodies = join(work, "bodies.json");
    const floors = await buildFloors(join(work, "floors"));
    const bytes = writeCorpus(source, size.count);
    writeFileSync(bodies, JSON.stringify(corpus(size.count)));
    const place = { source, count: size.count, floors };
    note(`${size.count} manifests, ${(bytes / 1e6).toFixed(1)} MB of YAML, ${size.pairs} pairs of runs`);

    const smallPlan = await measure(`plan of ${SMALL}, cold`, await smallPlanPair(work, { planes, floors, size }));
    const asked = await startControlPlane();
    planes.push(asked);
    const asking = { ...size, plane: asked, floors };
    const dryRuns = await measure("plan of new services", await dryRunPair(join(work, "dry-runs"), asking));
    await asked.stop();
    planes.pop();
    const manyTargets = await manyTargetsIn(join(work, "targets"), { planes, floors, size, measure });
    note("the page of a daemon");
    const dashboard = await measureDashboard(join(work, "dashboard"), size);
    const startUp = await measure("validate of one file, against node -e 0", startUpPair(work));
    const validate = await measure("validate, cold", validatePair(place));
    const faulty = await measure("validate, one fault in each file", faultyPair(work, place));
    const applying = { source, bodies, size, planes, floors };
    const applies = size.count > GOALS ? null : await measureApplies(work, applying, measure);

    // What the plans look at: a control plane of its own, and the state that its apply left behind.
    const plane = await startControlPlane();
    planes.push(plane);
    const state = join(work, "state");
    await runProgram(applyProgram(plane, { source, state, size }));
    const coldPlan = await measure("plan, cold", coldPlanPair(plane, { ...place, work }));
    const memory = join(work, "floor.json");
    const warmPlan = await measure("plan, warm", warmPlanPair(plane, { ...place, state, memory }));
    const imported = await measure("import", importPair(plane, { ...place, work }));
    note("passes of a daemon");
    const manifest = join(source, "block-0", "service", "svc-00000-0.yaml");
    const daemon = await measureDaemon({
      source,
      state,
      env: plane.env,
      manifest,
      count: size.pairs,
    });
    note("pushes to a repository that a daemon follows");
    const upstream = join(work, "upstream");
    writeCorpus(upstream, size.count);
    const following = { work: join(work, "follow"), source: upstream, plane, count: size.pairs };
    const pushes = await measurePushes({ ...following, file: "block-0/service/svc-00000-0.yaml" });
    const reads = join(work, "reads.json");
    writeFileSync(reads, JSON.stringify(await singleReads(plane)));
    await plane.restrict();
    const documentedPlan = await measure(
      "plan, warm, with the documented operations alone",
      documentedPlanPair(plane, { ...place, state, reads, size }),
    );
    return {
      startUp,
      dashboard,
      validate,
      faulty,
      applies,
      coldPlan,
      warmPlan,
      imported,
      daemon,
      pushes,
      documentedPlan,
      smallPlan,
      dryRuns,
      manyTargets,
    };
  } finally {
    await Promise.all(planes.map(({ stop }) => stop()));
    rmSync(work, { recursive: true, force: true });
  }
}

type Measure = (label: string, pair: Pair) => Promise<Measured>;

async function measureApplies(work: string, applying: ApplyPlace, measure: Measure): Promise<Results["applies"]> {
  const near = await measure("apply, creating everything", applyPair(join(work, "apply"), applying));
  const away = { ...applying, place: (plane: BenchControlPlane) => far(plane, FAR) };
  return { near, far: await measure(`apply, ${FAR} ms away`, applyPair(join(work, "far"), away)) };
}

type ManyPlace = Pick<ApplyPlace, "planes" | "floors" | "size"> & { readonly measure: Measure };

async function manyTargetsIn(work: string, { planes, floors, size, measure }: ManyPlace): Promise<ManyTargets> {
  const plane = await startControlPlane();
  planes.push(plane);
  const apply = (source: string): Promise<unknown> =>
    runProgram(
      applyProgram(plane, { source, state: join(work, "whole"), size: { ...size, count: MANY_TARGETS_MANIFESTS } }),
    );
  const measured = await measureManyTargets({ work, plane, floors, apply, measure });
  await plane.stop();
  planes.pop();
  return measured;
}

type Place = { readonly source: string; readonly count: number; readonly floors: Floors };

function startUpPair(work: string): Pair {
  const folder = join(work, "one");
  writeCorpus(folder, 1);
  const empty = join(work, "empty.cjs");
  writeFileSync(empty, "");
  return {
    ours: async () => ({ script: BIN, args: ["validate", "-o", "json", "--source", folder], check: validated(1) }),
    floor: async () => ({ script: empty, args: [], check: () => null }),
  };
}

function validatePair({ source, count, floors }: Place): Pair {
  return {
    ours: async () => ({ script: BIN, args: ["validate", "-o", "json", "--source", source], check: validated(count) }),
    floor: async () => ({ script: floors.validate, args: [source], check: counted({ manifests: count }) }),
  };
}

// The floor is the same command on the same manifests without their faults.
function faultyPair(work: string, { source, count }: Place): Pair {
  const folder = join(work, "faulty");
  writeCorpus(folder, count, withFault);
  const program = { script: BIN, args: ["validate", "-o", "json", "--source"] };
  return {
    ours: async () => ({
      ...program,
      args: [...program.args, folder],
      exitCode: 3,
      check: summarised({ files: count, manifests: 0, errors: Math.min(count, MAX_LISTED_ERRORS) }),
    }),
    floor: async () => ({ ...program, args: [...program.args, source], check: validated(count) }),
  };
}

type ApplyPlace = {
  readonly source: string;
  readonly bodies: string;
  readonly size: Size;
  readonly planes: BenchControlPlane[];
  readonly floors: Floors;
  /** Where the control plane stands. */
  readonly place?: (plane: BenchControlPlane) => Promise<BenchControlPlane>;
};

// Creating needs an empty control plane each time; the one before it is stopped first.
function applyPair(states: string, { source, bodies, size, planes, floors, place }: ApplyPlace): Pair {
  let nth = 0;
  const fresh = async () => {
    await planes.pop()?.stop();
    const plane = await startControlPlane();
    planes.push(plane);
    if (place === undefined) return plane;
    const placed = await place(plane);
    planes.splice(-1, 1, placed);
    return placed;
  };
  return {
    ours: async () => {
      nth += 1;
      return applyProgram(await fresh(), { source, state: `${states}-${nth}`, size });
    },
    floor: async () => {
      const { env, processorsLeft } = await fresh();
      return {
        script: floors.apply,
        args: [bodies, String(size.concurrency)],
        env,
        processors: processorsLeft,
        check: counted({ manifests: size.count }),
      };
    },
  };
}

function applyProgram(
  plane: BenchControlPlane,
  { source, state, size }: { readonly source: string; readonly state: string; readonly size: Size },
): Program {
  const flags = [
    "--yes",
    "--allow-privilege",
    "--no-wait",
    "--sink",
    "file",
    "--concurrency",
    String(size.concurrency),
  ];
  return {
    script: BIN,
    args: ["apply", "-o", "json", "--source", source, "--state", state, ...flags],
    env: plane.env,
    processors: plane.processorsLeft,
    check: summarised({ created: size.count, failed: 0, blocked: 0, unknown: 0 }),
  };
}

function coldPlanPair(
  plane: BenchControlPlane,
  { work, source, count, floors }: Place & { readonly work: string },
): Pair {
  let nth = 0;
  return {
    ours: async () => {
      nth += 1;
      return planProgram(plane, { source, count, state: join(work, `cold-${nth}`) });
    },
    floor: async () => ({
      script: floors.plan,
      args: [source],
      env: plane.env,
      check: counted({ manifests: count, same: count }),
    }),
  };
}

// The floor reads the same lists, and as many files as are written here.
function importPair(plane: BenchControlPlane, { work, ...place }: Place & { readonly work: string }): Pair {
  let nth = 0;
  return {
    ours: async () => {
      nth += 1;
      const folder = join(work, `import-${nth}`);
      mkdirSync(folder);
      return {
        script: BIN,
        args: [
          "import",
          "--into",
          join(folder, "live"),
          "-o",
          "json",
          "--source",
          folder,
          "--state",
          join(folder, "state"),
        ],
        env: plane.env,
        // The group of secrets of the control plane does not show its values, so that no file can declare it.
        check: summarised({ written: place.count, unchanged: 0, differs: 0, skipped: 1 }),
      };
    },
    floor: coldPlanPair(plane, { work, ...place }).floor,
  };
}

type WarmPlace = Place & { readonly state: string; readonly memory: string };

function warmPlanPair(plane: BenchControlPlane, { source, count, floors, state, memory }: WarmPlace): Pair {
  let remembered = false;
  return {
    ours: async () => planProgram(plane, { source, count, state }),
    floor: async () => {
      const floor = { script: floors["cached-plan"], args: [source, memory], env: plane.env };
      if (!remembered) await runProgram({ ...floor, check: () => null });
      remembered = true;
      return { ...floor, check: counted({ manifests: count, same: count }) };
    },
  };
}

type SmallPlace = { readonly planes: BenchControlPlane[]; readonly floors: Floors; readonly size: Size };

// Small repositories are the most frequent, and there start-up is everything.
async function smallPlanPair(work: string, { planes, floors, size }: SmallPlace): Promise<Pair> {
  const source = join(work, "small");
  writeCorpus(source, SMALL);
  const plane = await startControlPlane();
  planes.push(plane);
  const small = { ...size, count: SMALL };
  await runProgram(applyProgram(plane, { source, state: join(work, "small-state"), size: small }));
  return coldPlanPair(plane, { work: join(work, "small-cold"), source, count: SMALL, floors });
}

type DocumentedPlace = Place & { readonly state: string; readonly reads: string; readonly size: Size };

// What has neither list nor single read there is kept by the ledger's word.
function documentedPlanPair(
  plane: BenchControlPlane,
  { source, count, floors, state, reads, size }: DocumentedPlace,
): Pair {
  const concurrency = String(size.concurrency);
  return {
    ours: async () => planProgram(plane, { source, count, state, flags: ["--concurrency", concurrency] }),
    floor: async () => ({
      script: floors["single-reads"],
      args: [reads, concurrency],
      env: plane.env,
      check: () => null,
    }),
  };
}

function planProgram(
  plane: BenchControlPlane,
  {
    source,
    count,
    state,
    flags = [],
  }: Pick<Place, "source" | "count"> & { readonly state: string; readonly flags?: readonly string[] },
): Program {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  return {
    script: BIN,
    args: ["plan", "-o", "json", "--source", source, "--state", state, ...flags],
    env: plane.env,
    check: summarised({ keep: count, create: 0, update: 0, block: 0, ensure: 0 }),
  };
}

type Check = Program["check"];

function validated(count: number): Check {
  return summarised({ manifests: count, errors: 0 });
}

// A run that did less than the whole work must not count as a fast one.
function summarised(expected: { readonly [name: string]: number }): Check {
  return (result) => counted(expected)(isObject(result) ? result.summary : undefined);
}

function counted(expected: { readonly [name: string]: number }): Check {
  return (result) => {
    const given = isObject(result) ? result : {};
    const wrong = Object.entries(expected).find(([name, value]) => given[name] !== value);
    return wrong === undefined ? null : `${wrong[0]} should be ${wrong[1]}: ${JSON.stringify(given)}`;
  };
}
