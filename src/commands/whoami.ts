import { ClientError } from "../client/client-error.ts";
import { readAccess } from "../core/access.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { TokenOrigin, WhoamiReport } from "../core/report/report.ts";
import type { ServerSession } from "../engine/session.ts";
import { count } from "../render/count-text.ts";
import { jsonText, printable } from "../render/escape.ts";
import { wrapWords } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { whoami } from "./declarations/whoami.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { type Terminal, writeResult } from "./terminal.ts";

/** Shows whose token is used, and all its roles. */
export async function run(invocation: InvocationOf<typeof whoami>): Promise<number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: true });
  const { session, credential } = await target.server.connect(target.rules(target.source.config.repository));
  const report: WhoamiReport = { ...(await readCaller(session, terminal)), credential };
  await session.capabilities.save();
  await writeResult(terminal, view.output === "json" ? jsonText(report) : whoamiText(report, view));
  return 0;
}

async function readCaller(
  { server, reader }: ServerSession,
  { stopping, warnings }: Terminal,
): Promise<Omit<WhoamiReport, "credential">> {
  try {
    const caller = await reader.get("getCaller", {}, { signal: stopping });
    if (readAccess(caller) === null) throw new HoldfastError("error", "the control plane does not name all roles");
    const { subject, subjectId = null, tenantName, roles, tokenExpiresAt = null } = caller;
    const shown = roles.map(({ role, resourceType, resourceFqn, through = null, group = null }) => {
      return { role, resourceType, resourceFqn, through, group };
    });
    return {
      format_version: FORMAT_VERSION,
      server,
      subject,
      subjectId,
      tenantName,
      roles: shown,
      tokenExpiresAt,
      diagnostics: warnings.all(),
    };
  } catch (error) {
    if (!(error instanceof ClientError && error.reason === "route-missing")) throw error;
    throw new HoldfastError("error", "this control plane does not tell whose token is used", {
      hint: "it lacks the extension E14 (GET /api/svc/v1/me); a plan then concludes less from what it does not see",
      cause: error,
    });
  }
}

const ORIGINS: { readonly [from in TokenOrigin["from"]]: (place: string) => string } = {
  "token-file": (place) => `token of the file ${place}`,
  environment: (place) => `token of ${place}`,
  login: (place) => `token of the login at ${place}`,
  embedded: (place) => `admin token of the embedded control plane, in ${place}`,
};

/** Whose token it is, until when, and each of its roles in a line. */
export function whoamiText(
  { server, subject, tenantName, roles, tokenExpiresAt, credential }: WhoamiReport,
  { width }: { readonly width: number },
): string {
  const end = tokenExpiresAt === null ? "" : `; the token is valid until ${tokenExpiresAt}`;
  const head = `${subject} in tenant ${tenantName} on ${server}, with ${count(roles.length, "role")}${end}`;
  const origin = ORIGINS[credential.from](credential.place);
  const lines = roles.map(({ role, resourceType, resourceFqn, through, group }) => {
    const origin = through === null ? "" : ` through ${through}${group === null ? "" : `, by the group ${group}`}`;
    return `${role} on ${resourceType} ${resourceFqn}${origin}`;
  });
  return [
    ...wrapWords(printable(head), { indent: "", nextIndent: "  ", width }),
    ...wrapWords(printable(origin), { indent: "  ", nextIndent: "    ", width }),
    ...lines.flatMap((line) => wrapWords(printable(line), { indent: "  ", nextIndent: "    ", width })),
    "",
  ].join("\n");
}
