import { ClientError } from "../client/client-error.ts";
import { causeText } from "../client/reachability.ts";
import { refusalError } from "../client/read-error.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { UsersReport } from "../contract/generated/output.ts";
import type { User } from "../contract/generated/resources.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { ServerSession } from "../engine/session.ts";
import type { Sink } from "../engine/token-sink.ts";
import { count } from "../render/count-text.ts";
import { jsonText, printable } from "../render/escape.ts";
import { wrapWords } from "../render/wrap.ts";
import { type InvocationOf, refuseUnfit } from "./command.ts";
import { readySink } from "./connection/ready-sink.ts";
import type { user } from "./declarations/user.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { confirm, requireConfirmable, say, type Terminal, writeResult } from "./terminal.ts";

type UserInvocation = InvocationOf<typeof user>;
type Action = { readonly is: "list" } | { readonly is: "add" | "remove"; readonly email: string };
type ReportedUser = UsersReport["users"][number];

/** Adds, lists or removes users of a control plane. */
export async function run(invocation: UserInvocation): Promise<number> {
  const { flags, terminal } = invocation;
  const act = actionOf(invocation.args);
  requireFitting(act, invocation);
  const view = terminalViewOf(invocation);
  if (act.is === "remove") requireConfirmable("user remove", { isConfirmed: flags.yes }, terminal);
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  if (act.is !== "list") await requireTargetConfirmed(target, flags, terminal);
  if (act.is === "remove" && !flags.yes && !(await isConfirmed(act.email, terminal))) {
    say(terminal, "nobody was removed");
    return 0;
  }
  const { session } = await target.server.connect(target.rules(target.source.config.repository));
  const users = await carryOut(act, session, invocation);
  await session.capabilities.save();
  const { server } = session;
  const diagnostics = terminal.warnings.all();
  const report: UsersReport = { format_version: FORMAT_VERSION, server, action: act.is, users, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : usersText(report, view));
  return 0;
}

function actionOf([action, email, ...more]: readonly string[]): Action {
  if (action === "list" && email === undefined) return { is: "list" };
  if ((action === "add" || action === "remove") && email !== undefined && more.length === 0) {
    return { is: action, email: email.replace(/^user:/, "") };
  }
  throw new HoldfastError("invalid", "user needs add EMAIL, list or remove EMAIL", {
    hint: "holdfast user --help has examples",
  });
}

function requireFitting(act: Action, invocation: UserInvocation): void {
  if (act.is !== "add") refuseUnfit(invocation, ["sink", "token"], "it is for user add");
  if (invocation.flags.token === false) refuseUnfit(invocation, ["sink"], "with --no-token there is no token to store");
}

function isConfirmed(email: string, terminal: Terminal): Promise<boolean> {
  return confirm(`Remove ${printable(email)}, and end all tokens of that user?`, terminal);
}

async function carryOut(
  act: Action,
  session: ServerSession,
  { flags, terminal }: UserInvocation,
): Promise<readonly ReportedUser[]> {
  switch (act.is) {
    case "list":
      return list(session, terminal);
    case "remove":
      return [reported((await put(session, { email: act.email, remove: true }, terminal)).user)];
    case "add":
      // `--no-token` sets it to false.
      return [await add(act.email, flags.token === false, session, terminal)];
  }
}

async function list({ reader }: ServerSession, { stopping }: Terminal): Promise<readonly ReportedUser[]> {
  try {
    const rows = await reader.list("listUsers", {}, { signal: stopping });
    return rows.map((row) => reported(row));
  } catch (error) {
    if (error instanceof ClientError && error.reason === "route-missing") throw withoutUsers("GET", error);
    throw error;
  }
}

async function add(
  email: string,
  hasNoToken: boolean,
  session: ServerSession,
  terminal: Terminal,
): Promise<ReportedUser> {
  const signIn = hasNoToken ? "issuer" : "token";
  if (hasNoToken) return reported((await put(session, { email, signIn }, terminal)).user);
  const identity = `user-token/${email.toLowerCase()}`;
  const sink = await readySink(session, identity, "nobody was added");
  const { user: added, token } = await put(session, { email, signIn }, terminal);
  return reported(added, token === null ? null : await deliver(sink, identity, token));
}

async function deliver(sink: Sink, identity: string, token: Parameters<Sink["deliver"]>[1]): Promise<string> {
  return sink.deliver(identity, token).catch((cause: unknown) => {
    throw new HoldfastError("error", `the user was added, and the token could not be stored: ${errorMessage(cause)}`, {
      hint: "remove the user with holdfast user remove, and add it again",
      cause,
    });
  });
}

async function put(
  { writer }: ServerSession,
  body: { readonly email: string; readonly signIn?: string; readonly remove?: boolean },
  { random, signal }: Terminal,
) {
  const sent = await writer.send("putUser", { body, idempotencyKey: random.id() }, { signal });
  if (sent.state === "applied") return { user: sent.data, token: sent.token };
  if (sent.state === "refused") {
    throw sent.reason === "route-missing" ? withoutUsers("PUT") : refusalError("putUser", sent);
  }
  const what = body.remove ? "removed" : "added";
  if (sent.state === "not-sent") {
    throw new HoldfastError("error", `nobody was ${what}: ${causeText(sent.cause)}`, { cause: sent.cause });
  }
  throw new HoldfastError("error", `it is unknown whether the user was ${what}: ${causeText(sent.cause)}`, {
    hint: body.remove
      ? "run it again: a repetition does no harm"
      : "holdfast user list shows it; a token whose reply was lost cannot be shown again: remove the user, and add it again",
    cause: sent.cause,
  });
}

function withoutUsers(method: string, cause?: unknown): HoldfastError {
  return new HoldfastError("error", "this control plane has no list of users", {
    hint: `it lacks the extension E17 (${method} /api/svc/v1/users)`,
    cause,
  });
}

function reported(row: User, storedAt: string | null = null): ReportedUser {
  const { id, subject, displayName, signIn, state } = row;
  const { createdAt = null, issuer = null, issuerSubject = null, signedInAt = null, removedAt = null } = row;
  const origin = { issuer, issuerSubject, signedInAt };
  return { id, subject, displayName, signIn, state, createdAt, ...origin, removedAt, storedAt };
}

const HEADS: { readonly [action in Action["is"]]: (users: string, server: string) => string } = {
  add: (_, server) => `a user of ${server}`,
  list: (users, server) => `${users} on ${server}`,
  remove: (_, server) => `removed from ${server}; the tokens of this user are void from now on`,
};

/** What was done, and each user with its state, sign-in and last sign-in. */
export function usersText({ server, action, users }: UsersReport, { width }: { readonly width: number }): string {
  const head = HEADS[action](count(users.length, "user"), server);
  const lines = users.flatMap((one) => [
    ...wrapWords(printable(titleOf(one)), { indent: "  ", nextIndent: "    ", width }),
    ...wrapWords(printable(factsOf(one, action)), { indent: "    ", width }),
  ]);
  return [...wrapWords(printable(head), { indent: "", nextIndent: "  ", width }), ...lines, ""].join("\n");
}

function titleOf({ subject, displayName, state }: ReportedUser): string {
  const named = subject === `user:${displayName}` ? subject : `${subject} (${displayName})`;
  return state === "active" ? named : `${named}, ${state}`;
}

function factsOf(
  { signIn, createdAt, issuer, issuerSubject, signedInAt, storedAt }: ReportedUser,
  action: Action["is"],
): string {
  if (storedAt !== null) return `its token is in ${storedAt}`;
  const added = createdAt === null ? "" : `; added ${createdAt}`;
  if (signIn === "token") {
    return action === "add"
      ? `it has a token already, which is shown only once${added}`
      : `signs in by a token${added}`;
  }
  if (issuer === null) return `signs in through the issuer, and has not yet${added}`;
  const last = signedInAt === null ? "" : `, last ${signedInAt}`;
  return `signs in through ${issuer} as ${issuerSubject}${last}${added}`;
}
