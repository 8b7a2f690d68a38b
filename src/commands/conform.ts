import { ClientError } from "../client/client-error.ts";
import { connect } from "../client/connect.ts";
import type { Reader } from "../client/reader.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { ConformLevel, ConformReport } from "../contract/generated/output.ts";
import { Secret } from "../contract/secret.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { ownApplicationId } from "../engine/conform/application-writes.ts";
import {
  type ConformContext,
  type ConformNames,
  createConformContext,
  isPathSegment,
} from "../engine/conform/context.ts";
import { leftBehind, runChecks, takenBack } from "../engine/conform/run-checks.ts";
import { conformText } from "../render/conform.ts";
import { jsonText, printable } from "../render/escape.ts";
import { linesText } from "../render/wrap.ts";
import { type InvocationOf, missingFlags, refuseUnfit } from "./command.ts";
import { connectOptions } from "./connection/open-connection.ts";
import type { conform } from "./declarations/conform.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { columnsOn, confirm, requireConfirmable, say, writeResult } from "./terminal.ts";

type ConformInvocation = InvocationOf<typeof conform>;

/** Checks a control plane against the interface; sends only GETs, unless more is asked for. */
export async function run(invocation: ConformInvocation): Promise<number> {
  const { flags, terminal } = invocation;
  const levels = levelsOf(invocation);
  const names = {
    workspace: levels.includes("write") ? (flags.workspace ?? null) : null,
    mlRepo: flags.mlRepo ?? null,
    application: flags.application ?? null,
  };
  const view = terminalViewOf(invocation);
  const use = { reading: true, answersAsGiven: true };
  await using target = await findTarget({ ...invocation, args: [] }, use);
  const rules = target.rules(target.source.config.repository);
  const { session, url } = await target.server.connect(rules);
  const writes = levels.includes("write");
  if (writes) {
    sayWritten(session.server, levels, names, terminal);
    requireConfirmable("writing them", { isConfirmed: flags.yes }, terminal);
  }
  const unwritable = writes ? await whyUnwritable(session.reader, names, terminal.stopping) : null;
  if (writes && unwritable === null) {
    await requireTargetConfirmed(target, flags, terminal);
    if (flags.yes !== true && !(await confirm("Write them?", terminal))) {
      terminal.stderr.write("nothing was written, and nothing was checked\n");
      return 0;
    }
  }
  const { clock, random, stopping: signal } = terminal;
  await using unknown = connect({
    ...connectOptions(invocation, { ...use, limit: null, meter: undefined }, rules),
    server: url,
    token: () => new Secret("holdfast-conform-was-never-issued"),
  });
  const context: ConformContext = createConformContext({
    ...{ reader: session.reader, writer: session.writer, probeRoute: session.probeRoute, stranger: unknown.reader },
    ...{ capabilities: session.capabilities, serverTime: session.serverTime, clock, random, signal, names },
    ownApplication: writes && unwritable === null ? () => ownApplicationId(context) : null,
    rolloutTimeoutMs: rules.rolloutTimeoutMs,
  });
  const isStrict = flags.strict ?? false;
  const { ending, ...found } = await runChecks(levels, context, { isStrict, unwritable });
  const { server } = session;
  const ended = ending?.message ?? null;
  const diagnostics = terminal.warnings.all();
  const report: ConformReport = { format_version: FORMAT_VERSION, server, ended, ...found, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : conformText(report, view));
  if (ending !== null) throw ending;
  return found.conforms ? 0 : exitCodes.error;
}

function levelsOf(invocation: ConformInvocation): ConformLevel[] {
  const { flags } = invocation;
  if (flags.application !== undefined && !isPathSegment(flags.application)) {
    throw new HoldfastError("invalid", "--application is no id", {
      hint: "give the id that the control plane has for an application",
    });
  }
  if (flags.write !== true) {
    const [write, tenant] = [{ "--write": undefined }, flags.writeTenant === true];
    if (tenant) throw missingFlags(write, "--write-tenant writes more than --write does, and needs it");
    refuseUnfit(invocation, ["workspace", "mlRepo", "yes", "confirm", "waitTimeout"], "it is for --write");
  } else {
    const needed = { "--workspace": flags.workspace };
    if (flags.workspace === undefined) throw missingFlags(needed, "name the workspace to write to: it must exist");
  }
  return [
    "read",
    ...(flags.dryRun === true ? (["dry-run"] as const) : []),
    ...(flags.write === true ? (["write"] as const) : []),
    ...(flags.writeTenant === true ? (["write-tenant"] as const) : []),
  ];
}

// A control plane may ignore the filter.
const MOST_NAMED = 1000;

/** Refuses a workspace and an ml repo that do not exist; returns why that cannot be known, and so nothing may be written. */
async function whyUnwritable(
  reader: Reader,
  { workspace, mlRepo }: ConformNames,
  signal: AbortSignal,
): Promise<string | null> {
  const absent = (what: string): HoldfastError =>
    new HoldfastError("invalid", printable(`there is no ${what}, or this token cannot see it`), {
      hint: "nothing was written: name one that exists",
    });
  try {
    const query = { fqn: workspace ?? "" };
    const workspaces = await reader.page("listWorkspaces", { query, limit: MOST_NAMED }, { signal });
    if (!workspaces.rows.some(({ fqn }) => fqn === workspace)) throw absent(`workspace ${workspace}`);
    if (mlRepo === null) return null;
    const { rows } = await reader.page("listMlRepos", { query: { name: mlRepo }, limit: MOST_NAMED }, { signal });
    if (!rows.some(({ manifest }) => manifest.name === mlRepo)) throw absent(`ml repo ${mlRepo}`);
    return null;
  } catch (error) {
    // The report says what is wrong with these lists, or why it ended.
    if (!(error instanceof ClientError || signal.aborted)) throw error;
    return `nothing is written, since it is not known what exists: ${errorMessage(error)}`;
  }
}

function sayWritten(
  server: string,
  levels: readonly ConformLevel[],
  names: ConformNames,
  terminal: InvocationOf<typeof conform>["terminal"],
): void {
  const list = (rows: readonly string[]): void => {
    const layout = { indent: "  ", nextIndent: "    ", width: columnsOn(terminal.stderr) };
    for (const row of rows) terminal.stderr.write(linesText(printable(row), layout));
  };
  say(terminal, `These will be written to ${server}, and stay there, since the interface has no delete:`);
  list(leftBehind(levels, names));
  say(terminal, "This will be written, and taken back at once:");
  list(takenBack(names));
}
