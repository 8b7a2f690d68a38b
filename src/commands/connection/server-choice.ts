import { join, resolve } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { TokenOrigin } from "../../core/report/report.ts";
import { runWarning } from "../../core/run-warning.ts";
import { readGivenText, UnreadableFileError, whyUnreadable } from "../../files/read-given-file.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { isSentInClear } from "../../http/loopback.ts";
import { announcedEndpoint } from "../../server/endpoint-file.ts";
import type { Terminal } from "../terminal.ts";

/** A chosen control plane and its token. */
export type ServerChoice = {
  /** Its name in reports and in the ledger: `embedded`, or the address. */
  readonly name: string;
  readonly url: string;
  readonly token: () => Secret;
  /** Where the token comes from. */
  readonly credential: TokenOrigin;
  /** Renews a token that the server has refused, before it is read again; absent where only its owner can. */
  readonly renew?: (refused: Secret) => Promise<void>;
};

/** Enough for any token. */
const MAX_TOKEN_BYTES = 64 * 1024;

/** The server that the user requested. */
export type ServerRequest = {
  readonly server: string | null;
  readonly embedded: boolean;
  readonly tokenFile: string | null;
};

/** The data folder of the embedded control plane in a state folder. */
export function embeddedFolder(state: string): string {
  return join(state, "control-plane");
}

/** A server that the user named by its address. */
export function namedServer(server: string, wish: ServerRequest, { env, cwd, warnings }: Terminal): ServerChoice {
  if (isSentInClear(server)) {
    // Only the host is shown, because the address may contain a password.
    const text = `tokens travel in clear to ${URL.parse(server)?.host}; use https:// for other machines`;
    warnings.addEarly(runWarning("clear-text", text));
  }
  const credential = originOf(wish);
  return { name: server.replace(/\/+$/, ""), url: server, token: () => readToken(wish, env, cwd), credential };
}

/** The embedded control plane that another process serves on this state folder; null if none responds. */
export async function attach(
  state: string,
  stop: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ServerChoice | null> {
  const folder = embeddedFolder(state);
  const url = announcedEndpoint(folder);
  if (url === null || !(await answers(url, stop))) return null;
  return embeddedServer(folder, url);
}

/** The embedded control plane at an address, with the admin token of its data folder. */
export function embeddedServer(folder: string, url: string): ServerChoice {
  return {
    name: "embedded",
    url,
    credential: { from: "embedded", place: join(folder, "admin-token") },
    token: () => {
      const bytes = readOwnFile(join(folder, "admin-token"), { limit: MAX_TOKEN_BYTES, isSecret: true });
      const token = bytes?.toString("utf8").trim() ?? "";
      if (token !== "") return new Secret(token);
      throw new HoldfastError("unauthorized", `${join(folder, "admin-token")} is missing or empty`, {
        hint: "give the token it was started with through HOLDFAST_TOKEN_FILE and --server",
      });
    },
  };
}

/** The error for a command without a server; says at once whether a token is missing too. */
export function noServer(flags: { readonly tokenFile?: string }, { env }: Terminal): HoldfastError {
  if (flags.tokenFile !== undefined || env.HOLDFAST_TOKEN) {
    return new HoldfastError("invalid", "no control plane is named", {
      hint: "name one with --server URL (or HOLDFAST_SERVER), or use --embedded",
    });
  }
  return new HoldfastError("invalid", "no control plane is named, and no token is given", {
    hint: "name one with --server URL (or HOLDFAST_SERVER) and give a token with --token-file FILE (or HOLDFAST_TOKEN), or use --embedded",
  });
}

function originOf({ tokenFile }: ServerRequest): TokenOrigin {
  return tokenFile === null
    ? { from: "environment", place: "HOLDFAST_TOKEN" }
    : { from: "token-file", place: tokenFile };
}

function readToken({ tokenFile }: ServerRequest, env: Terminal["env"], cwd: string): Secret {
  if (tokenFile !== null) {
    return readTokenFile(tokenFile, cwd);
  }
  const token = (env.HOLDFAST_TOKEN ?? "").replace(/\r?\n$/, "");
  if (token !== "") return new Secret(token);
  throw new HoldfastError("unauthorized", "no token is given", {
    hint: "sign in with holdfast login, or give one through --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN",
  });
}

function readTokenFile(file: string, cwd: string): Secret {
  const refused = (why: string): HoldfastError => new HoldfastError("unauthorized", `the token file ${file} ${why}`);
  try {
    const token = readGivenText(resolve(cwd, file)).replace(/\r?\n$/, "");
    if (token !== "") return new Secret(token);
  } catch (error) {
    const isAbsent = error instanceof UnreadableFileError && error.isAbsent;
    if (!isAbsent) throw refused(whyUnreadable(error));
  }
  throw refused("is missing or empty");
}

async function answers(
  url: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const { status, body } = await fetch(`${url}/healthz`, {
      signal: AbortSignal.any([signal, clock.timeout(2000)]),
    });
    await body?.cancel();
    return status === 200;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
