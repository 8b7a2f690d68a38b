import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import type { ApplyEvent } from "../core/report/events.ts";
import { makeSimulation, type Simulation } from "../core/report/simulation.ts";
import { reconcile } from "../engine/reconcile.ts";
import { defaultSink } from "../engine/sinks/index.ts";
import { kindsByType } from "../kinds/index.ts";
import { jsonText } from "../render/escape.ts";
import { simulationMarkdown, simulationText, simulationVerdict } from "../render/simulation.ts";
import { wrappedLines } from "../render/wrap.ts";
import { createControlPlane } from "../server/control-plane.ts";
import { contentTop, findRoot } from "../source/source-root.ts";
import { type Invocation, type InvocationOf, missingFlags } from "./command.ts";
import { startFailure } from "./connection/start-embedded.ts";
import type { simulate } from "./declarations/simulate.ts";
import { terminalLog } from "./output/terminal-log.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { readSnapshotFile } from "./snapshots/snapshot-file.ts";
import type { TargetUse } from "./targets/create-target.ts";
import { findTarget } from "./targets/find-targets.ts";
import { columnsOn } from "./terminal.ts";

/** The limit of forges for one comment, minus room for the surrounding text. */
const MAX_CHARACTERS = 60_000;

/** Applies the base, the change and the base again to a copy of a control plane, and reports the outcome. */
export async function run(invocation: InvocationOf<typeof simulate>): Promise<number> {
  const { flags, terminal } = invocation;
  const { snapshot: file, base } = flags;
  if (file === undefined || base === undefined) {
    throw missingFlags(
      { "--snapshot FILE": file, "--base REF": base },
      "name the snapshot, and the commit to merge into",
    );
  }
  const write = openOutputs(invocation, contentTop(findRoot({ cwd: terminal.cwd, source: flags.source })));
  const { snapshot, unseen } = readSnapshotFile(resolve(terminal.cwd, file));
  const folder = await mkdtemp(join(tmpdir(), "holdfast-simulation-"));
  try {
    const simulation = await onCopy(folder, snapshot, invocation, unseen);
    await write({
      render: (format) => {
        if (format === "json") return jsonText(simulation);
        if (format === "markdown") return simulationMarkdown(simulation, MAX_CHARACTERS);
        return wrappedLines(simulationText(simulation), columnsOn(terminal.stdout));
      },
      job: () => ({
        remarks: [],
        summary: simulationMarkdown(simulation, MAX_CHARACTERS),
        outputs: [
          ["verdict", simulationVerdict(simulation)],
          ["refused", String(simulation.change.refused.length)],
        ],
      }),
    });
    return simulation.change.refused.length > 0 ? exitCodes.error : 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function onCopy(
  folder: string,
  snapshot: Parameters<typeof createControlPlane>[0]["snapshot"] & object,
  invocation: Invocation,
  unseen: readonly string[],
): Promise<Simulation> {
  const data = join(folder, "control-plane");
  const log = terminalLog(invocation, "error");
  const { clock, random } = invocation.terminal;
  await using plane = await createControlPlane({
    clock,
    random,
    data,
    port: 0,
    snapshot,
    rolloutSeconds: 0,
    log,
  }).catch((error: unknown) => {
    throw startFailure(error, data);
  });
  const copy = { ...invocation, terminal: { ...invocation.terminal, env: withoutOperator(invocation.terminal.env) } };
  const flags = {
    ...copy.flags,
    server: plane.url,
    tokenFile: join(data, "admin-token"),
    state: join(folder, "state"),
    allowAdopt: true,
    allowPrivilege: true,
    allowShrink: true,
    // In a file: the folder is removed with the copy.
    ...(defaultSink === null ? {} : { sink: defaultSink.name }),
  };
  const apply = (use: NonNullable<TargetUse["base"]>) => applyTo({ ...copy, flags }, use);
  const base = await apply("instead");
  const change = await apply("compare");
  const revert = await apply("instead");
  return makeSimulation({ base, change, revert }, { unseen, kinds: kindsByType });
}

// Variables for the real control plane must not reach the copy, nor the copy's state the real one.
function withoutOperator(env: Invocation["terminal"]["env"]): Invocation["terminal"]["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("HOLDFAST_")));
}

async function applyTo(invocation: Invocation, base: NonNullable<TargetUse["base"]>): Promise<ApplyEvent> {
  await using target = await findTarget(invocation, { reading: false, base, unattended: true, isCopy: true });
  const mode = {
    is: "apply",
    approve: async () => ({ is: "agreed", allows: ["adopts", "privilege-growth"] }) as const,
    signed: null,
  } as const;
  // Nobody approves what happens to a copy.
  const rules: typeof target.rules = (config) => ({ ...target.rules(config), approvals: null });
  const end = await reconcile({ ...target, rules }, mode, { ...invocation.terminal, emit: () => {} });
  if (end.what === "applied") return end;
  const diagnostics = end.what === "read" ? end.diagnostics : [];
  throw new HoldfastError("invalid", `the ${base === "instead" ? "base" : "change"} has errors`, {
    hint: "holdfast validate shows them",
    diagnostics,
  });
}
