import { ClientError } from "../client/client-error.ts";
import { causeText } from "../client/reachability.ts";
import { refusalError } from "../client/read-error.ts";
import type { Sent, Writer } from "../client/writer.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { PersonalAccessToken } from "../contract/generated/resources.ts";
import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { ListedToken, TokensReport } from "../core/report/report.ts";
import type { ServerSession } from "../engine/session.ts";
import type { Sink } from "../engine/token-sink.ts";
import { count } from "../render/count-text.ts";
import { jsonText, printable } from "../render/escape.ts";
import { wrapWords } from "../render/wrap.ts";
import { type InvocationOf, refuseUnfit } from "./command.ts";
import { readySink } from "./connection/ready-sink.ts";
import { beginTokenRequest } from "./connection/token-request.ts";
import type { token } from "./declarations/token.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { type Terminal, writeResult } from "./terminal.ts";

/** Creates, lists or revokes personal access tokens of the caller, or gives a virtual account a new token. */
export async function run(invocation: InvocationOf<typeof token>): Promise<number> {
  const { flags, terminal } = invocation;
  const act = actionOf(invocation.args);
  if (act.is === "list" || act.is === "revoke") {
    refuseUnfit(invocation, ["sink"], "it is for token create and token reissue");
  }
  const view = terminalViewOf(invocation);
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  if (act.is !== "list") await requireTargetConfirmed(target, flags, terminal);
  const { session } = await target.server.connect(target.rules(target.source.config.repository));
  const asking = { session, terminal, folder: target.state.folder };
  const tokens = await carryOut(act, asking);
  await session.capabilities.save();
  const { server } = session;
  const diagnostics = terminal.warnings.all();
  const report: TokensReport = { format_version: FORMAT_VERSION, server, action: act.is, tokens, diagnostics };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : tokensText(report, view));
  return 0;
}

type Action =
  | { readonly is: "create"; readonly name: string }
  | { readonly is: "list" }
  | { readonly is: "revoke"; readonly id: string }
  | { readonly is: "reissue"; readonly account: string };

function actionOf([action, word, ...more]: readonly string[]): Action {
  if (action === "list" && word === undefined) return { is: "list" };
  if (word !== undefined && more.length === 0) {
    if (action === "create") return { is: "create", name: word };
    if (action === "revoke") return { is: "revoke", id: word };
    if (action === "reissue") return { is: "reissue", account: word.replace(/^virtual-?account[:/]/, "") };
  }
  throw new HoldfastError("invalid", "token needs create NAME, list, revoke ID or reissue ACCOUNT", {
    hint: "holdfast token --help has examples",
  });
}

/** How the caller asks, and the state folder in which open requests are stored. */
type Asking = { readonly session: ServerSession; readonly terminal: Terminal; readonly folder: string };

async function carryOut(act: Action, asking: Asking): Promise<readonly ListedToken[]> {
  const { session, terminal } = asking;
  switch (act.is) {
    case "create":
      return [await create(act.name, asking)];
    case "list":
      return list(session, terminal);
    case "revoke":
      return revoke(act.id, session, terminal);
    case "reissue":
      return [await reissue(act.account, asking)];
  }
}

const NOTHING = "nothing was created";

async function create(name: string, { session, terminal, folder }: Asking): Promise<ListedToken> {
  const { writer } = session;
  const identity = `personal-access-token/${name}`;
  const sink = await readySink(session, identity, NOTHING);
  const request = beginTokenRequest({ folder, server: session.server, identity }, terminal);
  const content = { path: { name }, idempotencyKey: request.key };
  const sent = await writer.send("getPersonalAccessToken", content, { signal: terminal.signal });
  if (sent.state !== "ambiguous" && (sent.state !== "applied" || sent.token === null)) request.end();
  if (sent.state === "refused") throw refusalError("getPersonalAccessToken", sent);
  if (sent.state !== "applied") throw unclear(name, sent);
  if (sent.token === null) throw notCreated(name, sent.created === true);
  const { id = null, createdBySubject: by, createdAt = null } = sent.data;
  if (
    request.isRepeated &&
    (await hasEnded(
      () => list(session, terminal),
      (one) => one.id === id,
    ))
  ) {
    request.end();
    return create(name, { session, terminal, folder });
  }
  const subject = by === undefined ? null : `${by.subjectType}:${by.subjectSlug}`;
  const storedAt = await deliver({ sink, identity, token: sent.token, id }, session, terminal).finally(request.end);
  return { id, name, subject, createdAt, createdWith: null, lastUsedAt: null, expiresAt: null, storedAt };
}

function unclear(name: string, sent: Extract<Sent, { state: "ambiguous" | "not-sent" }>): HoldfastError {
  const why = causeText(sent.cause);
  if (sent.state === "not-sent") {
    return new HoldfastError("error", `nothing was created: ${why}`, { cause: sent.cause });
  }
  return new HoldfastError("error", `it is unknown whether the token ${printable(name)} was created: ${why}`, {
    hint: "holdfast token list shows it; a token whose reply was lost cannot be shown again: revoke it, and create it again",
    cause: sent.cause,
  });
}

function notCreated(name: string, isLost: boolean): HoldfastError {
  const hint = "take another name, or revoke that one with holdfast token revoke ID; holdfast token list shows its id";
  if (isLost)
    return new HoldfastError("error", `the reply says that it created ${printable(name)}, and has no token`, { hint });
  return new HoldfastError("error", `you have a token ${printable(name)} already, and it is shown only once`, { hint });
}

// The repeated reply of an earlier request may have a token that was revoked since.
async function hasEnded<Row>(read: () => Promise<readonly Row[]>, isIt: (row: Row) => boolean): Promise<boolean> {
  try {
    return !(await read()).some(isIt);
  } catch (error) {
    // Where there is no list, nothing can revoke a single token either.
    if (error instanceof ClientError || error instanceof HoldfastError) return false;
    throw error;
  }
}

async function reissue(account: string, { session, terminal, folder }: Asking): Promise<ListedToken> {
  const identity = `virtual-account/${account}`;
  const sink = await readySink(session, identity, NOTHING);
  const request = beginTokenRequest({ folder, server: session.server, identity }, terminal);
  const content = { path: { name: account }, idempotencyKey: request.key };
  const sent = await session.writer.send("reissueVirtualAccount", content, { signal: terminal.signal });
  if (sent.state !== "ambiguous" && (sent.state !== "applied" || sent.token === null)) request.end();
  if (sent.state === "refused") {
    if (sent.reason !== "route-missing") throw refusalError("reissueVirtualAccount", sent);
    throw new HoldfastError("error", "this control plane cannot give a virtual account a new token", {
      hint: "it lacks the extension E20 (POST /api/svc/v1/virtual-accounts/{name}/reissue)",
    });
  }
  if (sent.state !== "applied" || sent.token === null) {
    const why = sent.state === "applied" ? "the reply has no token" : causeText(sent.cause);
    const isUnsent = sent.state === "not-sent";
    const what = isUnsent ? "no token was made" : `it is unknown whether ${printable(account)} has a new token`;
    throw new HoldfastError("error", `${what}: ${why}`, {
      hint: "run it again; the former token stays valid until the end of its grace period",
      ...(sent.state !== "applied" && { cause: sent.cause }),
    });
  }
  const accounts = () => session.reader.list("listVirtualAccounts", {}, { signal: terminal.stopping });
  if (request.isRepeated && (await hasEnded(accounts, (one) => one.jwtId === sent.data.jwtId))) {
    request.end();
    return reissue(account, { session, terminal, folder });
  }
  const storedAt = await sink.deliver(identity, sent.token).catch((cause: unknown) => {
    throw new HoldfastError("error", `the token was made and could not be stored: ${errorMessage(cause)}`, {
      hint: "nobody has it; correct that, and run it again",
      cause,
    });
  });
  request.end();
  const { jwtId: id = null, updatedAt: createdAt = null } = sent.data;
  const facts = { createdAt, createdWith: null, lastUsedAt: null, expiresAt: null };
  return { id, name: account, subject: `virtualaccount:${account}`, ...facts, storedAt };
}

type NewToken = { readonly sink: Sink; readonly identity: string; readonly token: Secret; readonly id: string | null };

// A token that nobody has must not stay valid.
async function deliver(
  { sink, identity, token: value, id }: NewToken,
  { writer }: ServerSession,
  { signal }: Terminal,
): Promise<string> {
  try {
    return await sink.deliver(identity, value);
  } catch (cause) {
    const isRevoked = id !== null && (await isVoid(id, writer, signal));
    const left = isRevoked ? "it was revoked" : "it stays valid, and nobody has it: revoke it";
    throw new HoldfastError("error", `the token was created and could not be stored: ${errorMessage(cause)}`, {
      hint: `${left}; correct that, and run it again`,
      cause,
    });
  }
}

async function isVoid(id: string, writer: Writer, signal: AbortSignal): Promise<boolean> {
  const { state } = await writer.send("revokePersonalAccessToken", { body: { revoke: id } }, { signal });
  return state === "applied";
}

async function list({ reader }: ServerSession, { stopping }: Terminal): Promise<readonly ListedToken[]> {
  try {
    const rows = await reader.list("listPersonalAccessTokens", {}, { signal: stopping });
    return rows.map(listed);
  } catch (error) {
    if (error instanceof ClientError && error.reason === "route-missing") throw lacks("list", "E12 (GET", error);
    throw error;
  }
}

function lacks(action: Action["is"], extension: string, cause?: unknown): HoldfastError {
  return new HoldfastError("error", `this control plane cannot ${action} personal access tokens`, {
    hint: `it lacks the extension ${extension} /api/svc/v1/personal-access-tokens)`,
    cause,
  });
}

function listed({ id, name, subject, createdAt, ...rest }: PersonalAccessToken): ListedToken {
  const { createdWith = null, lastUsedAt = null, expiry = null } = rest;
  return { id, name, subject, createdAt, createdWith, lastUsedAt, expiresAt: expiry, storedAt: null };
}

async function revoke(id: string, session: ServerSession, terminal: Terminal): Promise<readonly ListedToken[]> {
  // Read before, because afterwards nothing names what was revoked.
  const all = await list(session, terminal);
  const sent = await session.writer.send("revokePersonalAccessToken", { body: { revoke: id } }, terminal);
  if (sent.state === "applied") return withCreated(id, all);
  if (sent.state !== "refused") {
    throw new HoldfastError("error", `it is unknown whether the token was revoked: ${causeText(sent.cause)}`, {
      hint: "run it again: a repetition does no harm",
      cause: sent.cause,
    });
  }
  if (sent.reason === "route-missing") throw lacks("revoke", "E13 (POST");
  if (sent.reason !== "not-found") throw refusalError("revokePersonalAccessToken", sent);
  const named = all.filter(({ name }) => name === id).map((one) => `${one.id} of ${one.subject}`);
  throw new HoldfastError("error", `there is no token with the id ${printable(id)}, or it is not yours`, {
    hint:
      named.length === 0
        ? "holdfast token list shows the ids"
        : `a token is revoked by its id; of this name there is ${printable(named.join(", "))}`,
  });
}

/** A token and those that were created with it, which end with it. */
function withCreated(id: string, all: readonly ListedToken[]): readonly ListedToken[] {
  const made = all.filter(({ createdWith }) => createdWith === `personal-access-token/${id}`);
  return [
    ...all.filter((one) => one.id === id),
    ...made.flatMap((one) => (one.id === null ? [] : withCreated(one.id, all))),
  ];
}

const HEADS: { readonly [action in Action["is"]]: (tokens: string, server: string) => string } = {
  create: (_, server) => `a new token for ${server}`,
  list: (tokens, server) => `${tokens} on ${server}`,
  reissue: (_, server) => `a new token for ${server}; the former one ends with its grace period`,
  revoke: (tokens, server) => `${tokens} on ${server} void from now on`,
};

/** What was done, and each token with its owner, id, last use and end. */
export function tokensText({ server, action, tokens }: TokensReport, { width }: { readonly width: number }): string {
  const head = HEADS[action](count(tokens.length, "token"), server);
  const lines = tokens.flatMap((one) => [
    ...wrapWords(printable(titleOf(one)), { indent: "  ", nextIndent: "    ", width }),
    ...wrapWords(printable(factsOf(one)), { indent: "    ", width }),
  ]);
  return [...wrapWords(printable(head), { indent: "", nextIndent: "  ", width }), ...lines, ""].join("\n");
}

function titleOf({ name, subject, id }: ListedToken): string {
  return `${name}${subject === null ? "" : ` of ${subject}`}${id === null ? "" : `, id ${id}`}`;
}

function factsOf({ createdAt, createdWith, lastUsedAt, expiresAt, storedAt }: ListedToken): string {
  if (storedAt !== null) return `stored in ${storedAt}`;
  const used = lastUsedAt === null ? "never used" : `last used ${lastUsedAt}`;
  const end = expiresAt === null ? "no end known" : `valid until ${expiresAt}`;
  return `created ${createdAt ?? "at an unknown time"}${createdWith === null ? "" : ` with ${createdWith}`}; ${used}; ${end}`;
}
