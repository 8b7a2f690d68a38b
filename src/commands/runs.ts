import { ClientError } from "../client/client-error.ts";
import type { JobRun } from "../contract/generated/resources.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import type { RunsReport } from "../core/report/report.ts";
import { shownRun } from "../core/report/shown-run.ts";
import { followRun, jobPath, newestRuns } from "../engine/job-runs.ts";
import type { ServerSession } from "../engine/session.ts";
import { kindOf } from "../kinds/index.ts";
import { jsonText, printable } from "../render/escape.ts";
import { jobRunText, runsText } from "../render/runs.ts";
import type { InvocationOf } from "./command.ts";
import type { runs } from "./declarations/runs.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { type Terminal, writeResult } from "./terminal.ts";

/** Shows the newest runs of a job, or one of them, or follows one until it ends. */
export async function run(invocation: InvocationOf<typeof runs>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [job = "", name] = args;
  requireJob(job);
  const view = terminalViewOf(invocation);
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  const rules = target.rules(target.source.config.repository);
  const { session } = await target.server.connect(rules);
  const { server } = session;
  const found = await readRuns({ job, name }, session, terminal);
  const report = (): RunsReport => ({
    format_version: FORMAT_VERSION,
    server,
    job,
    runs: found.runs.map(shownRun),
    isCut: found.isCut,
    diagnostics: terminal.warnings.all(),
  });
  if (flags.follow !== true) {
    await session.capabilities.save();
    await writeResult(terminal, view.output === "json" ? jsonText(report()) : runsText(report(), view));
    return 0;
  }
  const [newest] = found.runs;
  if (newest === undefined) throw new HoldfastError("error", printable(`${job} has no run that could be followed`));
  const path = { jobId: found.jobId, jobRunName: newest.name };
  const { ended, last } = await followRun(session.reader, path, {
    clock: terminal.clock,
    timeoutMs: rules.rolloutTimeoutMs,
    signal: terminal.stopping,
    onStatus: (status) => void terminal.stderr.write(`${printable(`${newest.name}: ${status}`)}\n`),
  });
  await session.capabilities.save();
  const shown = shownRun(last ?? newest);
  const followed: RunsReport = { ...report(), runs: [shown], followed: ended };
  await writeResult(terminal, view.output === "json" ? jsonText(followed) : jobRunText(shown, view));
  if (ended === "succeeded") return 0;
  return ended === "failed" ? exitCodes.error : exitCodes.timeout;
}

const MOST = 50;

type Found = { readonly jobId: string; readonly runs: readonly JobRun[]; readonly isCut: boolean };

async function readRuns(
  { job, name }: { readonly job: Identity; readonly name: string | undefined },
  session: ServerSession,
  { stopping: signal }: Terminal,
): Promise<Found> {
  const heads = await session.heads();
  const registry = { reader: session.reader, recordedId: (identity: Identity) => heads.get(identity)?.id ?? null };
  const reading = { registry, signal };
  if (name === undefined) return requireFound(await newestRuns(job, MOST, reading));
  const { jobId } = requireFound(await jobPath(job, reading));
  const path = { jobId, jobRunName: name };
  try {
    return { jobId, runs: [await session.reader.get("getJobRun", { path }, { signal })], isCut: false };
  } catch (error) {
    if (!(error instanceof ClientError && error.reason === "not-found")) throw error;
    const { runs } = requireFound(await newestRuns(job, MOST, reading));
    const names = runs.slice(0, 3).map((one) => one.name);
    throw new HoldfastError("error", printable(`${job} has no run ${name}`), {
      hint: names.length === 0 ? "it has not run yet" : printable(`its newest runs are ${names.join(", ")}`),
      cause: error,
    });
  }
}

function requireFound<Value>(found: Value | string): Value {
  if (typeof found === "string") throw new HoldfastError("error", printable(found));
  return found;
}

function requireJob(identity: Identity): void {
  if (identity.includes("/") && kindOf(splitIdentity(identity).kind)?.hasRuns === true) return;
  throw new HoldfastError("invalid", printable(`${identity} is no identity of a job`), {
    hint: "write it as plan and status do, such as job/c1:ws1/nightly",
  });
}
