// src/commands/audit: the verification of the audit log. See docs/control-plane.md#chains.

import { resolve } from "node:path";
import { isObject, type Json, type JsonObject, parseJsonOrNull, text } from "../../contract/json.ts";
import { exitCodes, HoldfastError } from "../../core/errors.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import type { AuditVerificationReport } from "../../core/report/report.ts";
import { readGivenFile, UnreadableFileError } from "../../files/read-given-file.ts";
import { auditVerificationText } from "../../render/audit-verification.ts";
import { jsonText, printable } from "../../render/escape.ts";
import type { AuditMark } from "../../server/audit/verify.ts";
import { verifyAuditInDatabase } from "../../server/offline-admin.ts";
import type { InvocationOf } from "../command.ts";
import { dataOptions } from "../configuration/data-options.ts";
import type { audit } from "../declarations/audit.ts";
import { offlineFailure } from "../errors/store-failure.ts";
import { terminalViewOf } from "../output/terminal-view.ts";
import { type Terminal, writeResult } from "../terminal.ts";

/** Verifies the audit log in a database, whether the control plane runs or not; 1 where something is wrong. */
export async function verifyLog(invocation: InvocationOf<typeof audit>): Promise<number> {
  const { flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  const given = flags.checkpoint === undefined ? [] : readCheckpoints(flags.checkpoint, terminal);
  const options = await dataOptions(invocation);
  const verified = await verifyAuditInDatabase(options, given).catch((error: unknown) => {
    throw offlineFailure("the audit log was not verified", error);
  });
  const diagnostics = terminal.warnings.all();
  const report: AuditVerificationReport = { format_version: FORMAT_VERSION, ...verified, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : auditVerificationText(report, view));
  return report.findings.length === 0 ? 0 : exitCodes.error;
}

const MOST_BYTES = 512 * 1024 * 1024;

/** The checkpoints in an export, or in a log of the server: each line that is one. */
function readCheckpoints(named: string, { cwd }: Terminal): readonly AuditMark[] {
  let lines: readonly string[];
  try {
    lines = readGivenFile(resolve(cwd, named), MOST_BYTES).toString("utf8").split("\n");
  } catch (cause) {
    if (!(cause instanceof UnreadableFileError)) throw cause;
    throw new HoldfastError("invalid", `--checkpoint: ${printable(named)} ${cause.message}`, {
      hint: "name a file of holdfast audit export, or a log of holdfast serve --log-format json",
      cause,
    });
  }
  const marks = lines.flatMap((line) => markIn(parseJsonOrNull(line)) ?? []);
  if (marks.length > 0) return marks;
  throw new HoldfastError("invalid", `--checkpoint: ${printable(named)} has no checkpoint`, {
    hint: "name a file of holdfast audit export, or a log of holdfast serve --log-format json; a server writes a checkpoint each minute",
  });
}

function markIn(line: Json): AuditMark | null {
  if (!isObject(line)) return null;
  if (line.event === "audit-checkpoint") return markOf(line, line);
  const row = isObject(line.data) ? line.data : line;
  const { operation, chain } = row;
  if (operation !== "checkpoint" || !isObject(chain)) return null;
  return markOf(row, { ...chain, chain: chain.id ?? null, key_id: chain.key ?? null });
}

function markOf({ id, at }: JsonObject, { chain, number, key_id, link, signature }: JsonObject): AuditMark | null {
  const texts = [id, at, chain, key_id, link, signature].map(text);
  const [ownId, moment, chainId, key, own, signed] = texts;
  if (typeof number !== "number" || ownId === undefined || moment === undefined || chainId === undefined) return null;
  if (key === undefined || own === undefined || signed === undefined) return null;
  const mark = { id: ownId, kind: "checkpoint", at: moment, chain: chainId, number } as const;
  return { ...mark, key_id: key, link: own, signature: signed };
}
