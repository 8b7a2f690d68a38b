import { connect } from "../client/connect.ts";
import type { Reader } from "../client/reader.ts";
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
import { leftBehind, runChecks } from "../engine/conform/run-checks.ts";
import type { TargetConnection } from "../engine/target.ts";
import { conformText } from "../render/conform.ts";
import { jsonText, printable } from "../render/escape.ts";
import { type InvocationOf, missingFlags, refuseUnfit } from "./command.ts";
import { connectOptions } from "./connection/open-connection.ts";
import type { conform } from "./declarations/conform.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { confirm, requireConfirmable, say, writeResult } from "./terminal.ts";

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
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  const rules = target.rules(target.source.config.repository);
  const connection = await target.server.connect(rules);
  const { session, url } = connection;
  await requireNamed(session.reader, names, terminal.stopping);
  const left = leftBehind(levels, names);
  if (levels.includes("write")) {
    await requireTargetConfirmed(target, flags, terminal);
    if (!(await isAgreed(connection, left, invocation))) {
      terminal.stderr.write("nothing was written, and nothing was checked\n");
      return 0;
    }
  }
  const { clock, random, stopping: signal } = terminal;
  await using unknown = connect({
    ...connectOptions(invocation, { reading: true, limit: null, meter: undefined }, rules),
    server: url,
    token: () => new Secret("holdfast-conform-was-never-issued"),
  });
  const context: ConformContext = createConformContext({
    ...{ reader: session.reader, writer: session.writer, probeRoute: session.probeRoute, stranger: unknown.reader },
    ...{ capabilities: session.capabilities, serverTime: session.serverTime, clock, random, signal, names },
    ownApplication: levels.includes("write") ? () => ownApplicationId(context) : null,
    rolloutTimeoutMs: rules.rolloutTimeoutMs,
  });
  const found = await runChecks(levels, context, { isStrict: flags.strict ?? false });
  const { server } = session;
  const diagnostics = terminal.warnings.all();
  const report: ConformReport = { format_version: FORMAT_VERSION, server, levels, ...found, left, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : conformText(report, view));
  return found.conforms ? 0 : exitCodes.error;
}

function levelsOf(invocation: ConformInvocation): ConformLevel[] {
  const { flags, terminal } = invocation;
  if (flags.application !== undefined && !isPathSegment(flags.application)) {
    throw new HoldfastError("invalid", "--application is no id", {
      hint: "give the id that the control plane has for an application",
    });
  }
  if (flags.write !== true) {
    const [write, tenant] = [{ "--write": undefined }, flags.writeTenant === true];
    if (tenant) throw missingFlags(write, "--write-tenant writes more than --write does, and needs it");
    refuseUnfit(invocation, ["workspace", "mlRepo", "yes"], "it is for --write");
  } else {
    const needed = { "--workspace": flags.workspace };
    if (flags.workspace === undefined) throw missingFlags(needed, "name the workspace to write to: it must exist");
    requireConfirmable("writing what stays", { isConfirmed: flags.yes }, terminal);
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

// The first request: it also shows whether there is a control plane at all.
async function requireNamed(reader: Reader, { workspace, mlRepo }: ConformNames, signal: AbortSignal): Promise<void> {
  const query = workspace === null ? {} : { fqn: workspace };
  const workspaces = await reader.page("listWorkspaces", { query, limit: MOST_NAMED }, { signal });
  const absent = (what: string): HoldfastError =>
    new HoldfastError("invalid", printable(`there is no ${what}, or this token cannot see it`), {
      hint: "nothing was written: name one that exists",
    });
  if (workspace !== null && !workspaces.rows.some(({ fqn }) => fqn === workspace))
    throw absent(`workspace ${workspace}`);
  if (mlRepo === null) return;
  const { rows } = await reader.page("listMlRepos", { query: { name: mlRepo }, limit: MOST_NAMED }, { signal });
  if (!rows.some(({ manifest }) => manifest.name === mlRepo)) throw absent(`ml repo ${mlRepo}`);
}

async function isAgreed(
  { session: { server } }: TargetConnection,
  left: readonly string[],
  { flags, terminal }: ConformInvocation,
): Promise<boolean> {
  say(terminal, `These stay on ${server}, since the interface has no delete:`);
  for (const one of left) say(terminal, `  ${one}`);
  return flags.yes === true || confirm("Write them?", terminal);
}
