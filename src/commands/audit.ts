import { ClientError } from "../client/client-error.ts";
import type { Page } from "../client/read-envelope.ts";
import type { Reader } from "../client/reader.ts";
import type { AuditRow } from "../contract/generated/resources.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { AuditReport } from "../core/report/report.ts";
import type { ServerSession } from "../engine/session.ts";
import { auditRowText } from "../render/audit.ts";
import { jsonLine, jsonText, printable } from "../render/escape.ts";
import { linesText } from "../render/wrap.ts";
import { type InvocationOf, refuseUnfit } from "./command.ts";
import type { audit } from "./declarations/audit.ts";
import { type TerminalView, terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { type Terminal, writeResult } from "./terminal.ts";

type AuditInvocation = InvocationOf<typeof audit>;

/** Shows, exports or verifies the audit log. */
export async function run(invocation: AuditInvocation): Promise<number> {
  const { args } = invocation;
  const [action = "show", ...more] = args;
  requireFitting(action, invocation);
  if (more.length > 0 || !/^(?:show|export|verify)$/.test(action)) {
    throw new HoldfastError("invalid", `audit does not take ${args.map(printable).join(" ")}`, {
      hint: "it takes export, verify, or nothing to show the log; holdfast audit --help has examples",
    });
  }
  if (action === "verify") {
    // Only this needs the control plane's own code.
    const { verifyLog } = await import("./audit/verify.ts");
    return verifyLog(invocation);
  }
  const filter = filterOf(invocation);
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  const { session } = await target.server.connect(target.rules(target.source.config.repository));
  await explained(() =>
    action === "export" ? exportLog(session, filter, invocation) : show(session, filter, invocation),
  );
  await session.capabilities.save();
  return 0;
}

type Filter = { readonly subject?: string; readonly resource?: string; readonly since?: string };

function requireFitting(action: string, invocation: AuditInvocation): void {
  if (action === "verify") {
    const hint =
      "audit verify reads the whole database, on the machine of the control plane: --data or --database names it";
    refuseUnfit(invocation, ["subject", "resource", "since", "follow"], hint);
  } else {
    const hint = "it is for audit verify; the log is read from the control plane that --server names";
    refuseUnfit(invocation, ["checkpoint", "data", "database"], hint);
  }
  if (action === "export" && invocation.flags.follow === true) {
    throw new HoldfastError("invalid", "--follow shows the log, and export ends with it", {
      hint: "leave one of them out",
    });
  }
}

function filterOf({ flags: { subject, resource, since }, terminal }: AuditInvocation): Filter {
  return {
    ...(subject !== undefined && { subject }),
    ...(resource !== undefined && { resource }),
    ...(since !== undefined && { since: timeOf(since, terminal) }),
  };
}

const SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86_400 };

function timeOf(text: string, { clock }: Terminal): string {
  const [, amount, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ago = amount === undefined ? null : clock.now() - Number(amount) * (SECONDS[unit] ?? 1) * 1000;
  const moment = ago ?? (/^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN);
  if (!Number.isNaN(moment)) return new Date(moment).toISOString();
  throw new HoldfastError("invalid", `--since ${printable(text)} is no time`, {
    hint: "write an ISO time such as 2026-11-21T09:30:00Z, a day such as 2026-11-21, or how long ago, such as 2h or 3d",
  });
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ClientError && error.reason === "route-missing")) throw error;
    throw new HoldfastError("error", "this control plane does not show its audit log", {
      hint: "it lacks the extension E18 (GET /api/svc/v1/audit)",
      cause: error,
    });
  }
}

const PAGE = 1000;
/** What is shown without `--since`, and the most that is. */
const [NEWEST, MOST] = [100, 10_000];

async function show(session: ServerSession, filter: Filter, invocation: AuditInvocation): Promise<void> {
  const { flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  const { rows, isCut } = await newest(session, filter, filter.since === undefined ? NEWEST : MOST, terminal);
  if (flags.follow === true) return follow(rows, session, filter, { view, terminal });
  const diagnostics = terminal.warnings.all();
  const { server } = session;
  const report: AuditReport = { format_version: FORMAT_VERSION, server, rows, isCut, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : reportText(report, filter, view));
}

/** The newest rows of a filter, oldest first. */
async function newest(
  { reader }: ServerSession,
  filter: Filter,
  most: number,
  { stopping }: Pick<Terminal, "stopping">,
): Promise<{ readonly rows: readonly AuditRow[]; readonly isCut: boolean }> {
  const found = new Map<string, AuditRow>();
  for (;;) {
    const limit = Math.min(PAGE, most - found.size);
    const window = { query: filter, offset: found.size, limit };
    const { rows, total } = await reader.page("listAudit", window, { signal: stopping });
    for (const row of rows) found.set(row.id, row);
    const isCut = total > found.size;
    if (rows.length < limit || !isCut || found.size >= most) return { rows: [...found.values()].toReversed(), isCut };
  }
}

function reportText({ rows, isCut }: AuditReport, filter: Filter, view: TerminalView): string {
  const older = isCut ? "older rows are not shown: choose others with --since, --subject or --resource" : "";
  const none = rows.length === 0 ? `the audit log has no such row${formsText(filter)}` : "";
  const [head = ""] = [older, none].filter((line) => line !== "");
  return [
    ...(head === "" ? [] : [linesText(head, { indent: "", nextIndent: "  ", width: view.width })]),
    ...rows.map((row) => auditRowText(row, view)),
  ].join("");
}

/** How to write what chooses rows, where it has another form than most that rows have. */
function formsText({ subject, resource }: Filter): string {
  const forms = [
    ...(subject === undefined || subject.includes(":")
      ? []
      : ["subjects are as user:ada@example.com, virtualaccount:ci"]),
    ...(resource === undefined || resource.includes("/") ? [] : ["resources are as team/ml, service/c1:ws1/api"]),
  ];
  return forms.map((form) => `; ${form}`).join("");
}

const EVERY_MS = 1000;
// A row may be committed later than one with a later id.
const LATE_MS = 60_000;

type Showing = { readonly view: TerminalView; readonly terminal: Terminal };

async function follow(
  before: readonly AuditRow[],
  session: ServerSession,
  filter: Filter,
  { view, terminal }: Showing,
): Promise<void> {
  let rows = before;
  let seen: ReadonlySet<string> = new Set();
  let last = filter.since ?? new Date(terminal.clock.now()).toISOString();
  for (;;) {
    const fresh = rows.filter(({ id }) => !seen.has(id));
    const text = fresh.map((row) => (view.output === "json" ? jsonLine(row) : auditRowText(row, view)));
    await writeResult(terminal, text.join(""));
    seen = new Set(rows.map(({ id }) => id));
    last = rows.at(-1)?.at ?? last;
    await terminal.clock.sleep(EVERY_MS, { signal: terminal.stopping }).catch(() => {});
    if (terminal.stopping.aborted) return;
    const since = new Date(Date.parse(last) - LATE_MS).toISOString();
    ({ rows } = await newest(session, { ...filter, since }, MOST, terminal));
  }
}

async function exportLog(session: ServerSession, filter: Filter, { terminal }: AuditInvocation): Promise<void> {
  const { reader, server } = session;
  for (const query of [filter, { ...(filter.since !== undefined && { since: filter.since }), checkpoints: true }]) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const window: PageAsked = { query: { ...query, after }, offset: 0, limit: PAGE };
      const { rows }: Page<AuditRow> = await reader.page("listAudit", window, { signal: terminal.stopping });
      await writeResult(terminal, rows.map((row) => jsonLine(eventOf(row, server))).join(""));
      after = rows.length < PAGE ? undefined : rows.at(-1)?.id;
    }
  }
}

type PageAsked = Parameters<Reader["page"]>[1];

/** A row as a CloudEvent 1.0. */
function eventOf(row: AuditRow, source: string) {
  const { id, at, resource, operation, outcome } = row;
  return {
    specversion: "1.0",
    id,
    source,
    type: `dev.holdfast.audit.${operation === "checkpoint" ? operation : outcome}`,
    ...(resource !== "" && { subject: resource }),
    time: at,
    datacontenttype: "application/json",
    data: row,
  };
}
