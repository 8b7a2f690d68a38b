import { hash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { parseAddress } from "../../client/server-address.ts";
import { canonical, isObject, parseJsonOrNull, text } from "../../contract/json.ts";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { requireOwnFolder } from "../../files/own-folder.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { replaceFile } from "../../files/write-file.ts";
import { IssuerError } from "../../http/issuer-error.ts";
import type { Issuer, IssuerAddress } from "../../http/oidc-issuer.ts";
import { printable } from "../../render/escape.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import { holdExclusiveLock } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** A sign-in of a person at an issuer, kept for one control plane, which alone gets its token. */
export type Login = {
  /** Address of the control plane, in its normal form. */
  readonly server: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Null for the client itself. */
  readonly audience: string | null;
  readonly token: Secret;
  readonly refreshToken: Secret | null;
  /** In epoch milliseconds; null where no end is known. */
  readonly expiresAt: number | null;
};

/** What a command needs to use a login. */
type LoginUse = Pick<Invocation, "terminal"> & {
  readonly flags: Pick<Invocation["flags"], "caFile" | "requestTimeout">;
};

/** Renewed so long before its end, since requests take time and clocks differ. */
const EARLY_MS = 30_000;
const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 50;
const MAX_LOGIN_BYTES = 256 * 1024;

/** The address of a control plane in the form that logins are kept under. */
export function loginServer(server: string): string {
  const { origin, base } = parseAddress(server);
  return origin + base;
}

/** The logins of a control plane. */
export function loginsOf(server: string, terminal: Terminal): readonly Login[] {
  const folder = loginFolder(terminal.env);
  if (folder === null || lstatOrNull(folder) === null) return [];
  requireOwnFolder(folder, { isContent: true });
  const files = readdirSync(folder).filter((name) => /^[\da-f]{64}\.json$/.test(name));
  const wanted = loginServer(server);
  return files.flatMap((name) => readLogin(join(folder, name)) ?? []).filter((login) => login.server === wanted);
}

/** The login that a command uses for a control plane, with a token that is valid now; null if there is none. */
export async function currentLogin(
  server: string,
  wanted: NonNullable<OperatorConfig["login"]>,
  use: LoginUse,
): Promise<{
  readonly issuer: string;
  readonly token: () => Secret;
  readonly renew: (refused: Secret) => Promise<void>;
} | null> {
  const { terminal } = use;
  const found = loginsOf(server, terminal).filter(({ issuer, audience }) => {
    return (wanted.issuer ?? issuer) === issuer && (wanted.audience ?? audience) === audience;
  });
  const [login, other] = found;
  if (login === undefined) return null;
  if (other !== undefined) {
    const named = found.map((one) => `${one.issuer}${one.audience === null ? "" : ` for ${one.audience}`}`).join(", ");
    throw new HoldfastError(
      "unauthorized",
      `there are ${found.length} logins of ${login.server}: ${printable(named)}`,
      {
        hint: "choose one with login.issuer and login.audience in the operator's configuration, or end all with holdfast logout",
      },
    );
  }
  const isEnding = login.expiresAt !== null && login.expiresAt - EARLY_MS <= terminal.clock.now();
  const current = isEnding ? await renewLogin(login, use) : login;
  const path = loginPath(current, terminal);
  return {
    issuer: current.issuer,
    token: () => {
      const stored = readLogin(path);
      if (stored !== null) return stored.token;
      throw new HoldfastError("unauthorized", `the login of ${login.server} was ended`, { hint: signInAgain(login) });
    },
    renew: async (refused) => {
      const stored = readLogin(path);
      if (stored !== null && stored.token.open() === refused.open()) await renewLogin(stored, use);
    },
  };
}

/** Stores a login with mode 0600, in place of one for the same control plane, issuer and audience. */
export async function storeLogin(login: Login, terminal: Terminal): Promise<string> {
  await using _ = await lockLogins(terminal);
  return writeLogin(login, terminal);
}

/** Removes a login after `before` was done with it, so that no process renews it in between. */
export async function removeLogin(
  login: Login,
  terminal: Terminal,
  before: (stored: Login) => Promise<void>,
): Promise<void> {
  await using _ = await lockLogins(terminal);
  const path = loginPath(login, terminal);
  const stored = readLogin(path);
  if (stored === null) return;
  try {
    await before(stored);
  } finally {
    rmSync(path, { force: true });
  }
}

/** Connects to the issuer of a login; what it refuses is an error for people. */
export async function openIssuer(
  { issuer, clientId }: Pick<Login, "issuer" | "clientId">,
  { flags, terminal }: LoginUse,
): Promise<Issuer> {
  // Loaded here, since hardly any command talks to an issuer.
  const { discoverIssuer } = await import("../../http/oidc-issuer.ts");
  const address: IssuerAddress = {
    issuer,
    clientId,
    clientSecret: null,
    ca: flags.caFile === undefined ? null : readCaFile(resolve(terminal.cwd, flags.caFile)),
    env: terminal.env,
    timeoutSeconds: flags.requestTimeout ?? 30,
  };
  return await discoverIssuer(address).catch((cause: unknown) => {
    throw issuerFailure(issuer, cause, "check its address, and that it can be reached from here");
  });
}

/** The error for what went wrong at an issuer. */
export function issuerFailure(issuer: string, cause: unknown, hint: string): unknown {
  if (!(cause instanceof IssuerError)) return cause;
  return new HoldfastError("error", `the issuer ${printable(issuer)}: ${printable(cause.message)}`, { hint, cause });
}

function readCaFile(path: string): string {
  try {
    return readGivenText(path);
  } catch (cause) {
    throw new HoldfastError("invalid", `the CA file ${whyUnreadable(cause)}`, { hint: "check --ca-file", cause });
  }
}

// Only one process of a person renews: an issuer may take a refresh token only once, and end the sign-in at its second use.
async function renewLogin(login: Login, use: LoginUse): Promise<Login> {
  const { terminal } = use;
  await using _ = await lockLogins(terminal);
  const stored = readLogin(loginPath(login, terminal));
  if (stored === null) throw new HoldfastError("unauthorized", "the login was ended", { hint: signInAgain(login) });
  // Another process has renewed it.
  if (stored.token.open() !== login.token.open()) return stored;
  if (stored.refreshToken === null) {
    throw new HoldfastError("unauthorized", `the login at ${printable(login.issuer)} has expired`, {
      hint: signInAgain(login),
    });
  }
  const renewed = await refreshed(stored, stored.refreshToken, use);
  writeLogin(renewed, terminal);
  return renewed;
}

async function refreshed(login: Login, refreshToken: Secret, use: LoginUse): Promise<Login> {
  const { asIssuerError, bearerTokenFor, refreshTokenGrant } = await import("../../http/oidc-issuer.ts");
  const issuer = await openIssuer(login, use);
  const tokens = await asIssuerError(() =>
    refreshTokenGrant(issuer, refreshToken.open(), audienceParameters(login.audience)),
  ).catch((cause: unknown) => {
    if (cause instanceof IssuerError && cause.code === "invalid_grant") {
      throw new HoldfastError(
        "unauthorized",
        `the login at ${printable(login.issuer)} has ended: ${printable(cause.message)}`,
        {
          hint: signInAgain(login),
          cause,
        },
      );
    }
    throw issuerFailure(login.issuer, cause, "the login is kept: try again when the issuer answers");
  });
  const bearer = bearerTokenFor(login.audience ?? login.clientId, tokens);
  if (bearer === null) {
    throw new HoldfastError("unauthorized", `the issuer ${printable(login.issuer)} renewed no token for the audience`, {
      hint: signInAgain(login),
    });
  }
  const { token, expiresAt } = bearer;
  const next = tokens.refresh_token === undefined ? refreshToken : new Secret(tokens.refresh_token);
  return { ...login, token: new Secret(token), expiresAt, refreshToken: next };
}

/** What names the audience to an issuer: issuers differ in which of both they read. */
export function audienceParameters(audience: string | null): { readonly [name: string]: string } {
  if (audience === null) return {};
  return URL.canParse(audience) ? { audience, resource: audience } : { audience };
}

function signInAgain({
  server,
  issuer,
  clientId,
  audience,
}: Omit<Login, "token" | "refreshToken" | "expiresAt">): string {
  const of = audience === null ? "" : ` --audience ${audience}`;
  return printable(`sign in again: holdfast login --server ${server} --issuer ${issuer} --client-id ${clientId}${of}`);
}

function loginFolder(env: Terminal["env"]): string | null {
  const { XDG_STATE_HOME: given = "", HOME: home = "" } = env;
  const base = isAbsolute(given) ? given : isAbsolute(home) ? join(home, ".local", "state") : null;
  return base === null ? null : join(base, "holdfast", "logins");
}

function requireLoginFolder({ env }: Terminal): string {
  const folder = loginFolder(env);
  if (folder !== null) return folder;
  throw new HoldfastError("error", "there is no folder for logins", {
    hint: "set HOME or XDG_STATE_HOME to a folder of yours",
  });
}

function loginPath(
  { server, issuer, audience }: Pick<Login, "server" | "issuer" | "audience">,
  terminal: Terminal,
): string {
  return join(requireLoginFolder(terminal), `${hash("sha256", canonical([server, issuer, audience]))}.json`);
}

async function lockLogins(terminal: Terminal): Promise<AsyncDisposable> {
  const folder = requireLoginFolder(terminal);
  await makeFolder(folder);
  requireOwnFolder(folder, { isContent: true });
  const { clock, stopping: signal } = terminal;
  for (const end = clock.monotonic() + LOCK_WAIT_MS; ; ) {
    const lock = holdExclusiveLock(join(folder, "lock"));
    if (lock !== null) return lock;
    if (clock.monotonic() > end) {
      throw new HoldfastError("locked", "another process renews the login and does not end", {
        hint: "end it, and try again",
      });
    }
    await clock.sleep(LOCK_POLL_MS, { signal });
  }
}

function writeLogin({ token, refreshToken, ...login }: Login, terminal: Terminal): string {
  const path = loginPath(login, terminal);
  const content = { ...login, token: token.open(), refreshToken: refreshToken?.open() ?? null };
  replaceFile(path, `${JSON.stringify(content)}\n`, { durable: true });
  return path;
}

// What is no login is passed over: signing in again replaces it.
function readLogin(path: string): Login | null {
  const bytes = readOwnFile(path, { limit: MAX_LOGIN_BYTES, isSecret: true });
  const value = bytes === null ? null : parseJsonOrNull(bytes.toString("utf8"));
  if (!isObject(value)) return null;
  const [server, issuer, clientId, token] = [value.server, value.issuer, value.clientId, value.token].map(text);
  if (server === undefined || issuer === undefined || clientId === undefined || token === undefined) return null;
  const refreshToken = text(value.refreshToken);
  return {
    ...{ server, issuer, clientId, audience: text(value.audience) ?? null, token: new Secret(token) },
    refreshToken: refreshToken === undefined ? null : new Secret(refreshToken),
    expiresAt: typeof value.expiresAt === "number" ? value.expiresAt : null,
  };
}
