import { resolve } from "node:path";
import type { ConnectOptions } from "../../client/connect.ts";
import type { RequestLimit } from "../../client/request-limit.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Meter } from "../../daemon/meter.ts";
import { openSession } from "../../engine/session.ts";
import { defaultSink } from "../../engine/sinks/index.ts";
import type { LockState, Rules, TargetConnection } from "../../engine/target.ts";
import type { ChosenSink } from "../../engine/token-sink.ts";
import { loadAgeIdentities } from "../../sops/age-identities.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { TargetState } from "../../state/state.ts";
import type { Invocation } from "../command.ts";
import { logOf, sayWait } from "../output/log-stream.ts";
import { terminalLog } from "../output/terminal-log.ts";
import { milliseconds } from "../targets/pass-rules.ts";
import { endAfter, type Terminal } from "../terminal.ts";
import { namedServer, type ServerChoice, type ServerRequest } from "./server-choice.ts";

/** How a command uses its server. */
export type ServerUse = {
  /** Whether the command only reads from the control plane; the state is then not locked. */
  readonly reading: boolean;
  /** Whether it runs unattended, as a daemon does. @default false */
  readonly unattended?: boolean;
  /** Whether the control plane is a copy that is thrown away, so that references are sent in place of their values. @default false */
  readonly isCopy?: boolean;
  /** Whether each answer is returned as the server gave it. @default false */
  readonly answersAsGiven?: boolean;
  /** The operator keys that are honoured. */
  readonly operator: OperatorConfig;
  /** Measures network requests; undefined if nothing measures them. */
  readonly meter?: Meter | undefined;
  /** What all connections to this control plane share; null for no limit. */
  readonly limit: RequestLimit | null;
  /** Finds or starts the embedded control plane. */
  readonly embedded: () => Promise<ServerChoice>;
};

/** Opens the state and a session with the chosen control plane; starts the embedded one if it is chosen. */
export async function openConnection(
  invocation: Invocation,
  { folder, readKey, build, onForgotten, caches, open }: TargetState,
  use: ServerUse & { readonly sink: ChosenSink | null } & Pick<Required<ConnectOptions>, "actor" | "revision">,
  { rules, lock: waitForLock }: { readonly rules: Rules; readonly lock: LockState | undefined },
  resources: AsyncDisposableStack,
): Promise<TargetConnection> {
  const { terminal } = invocation;
  const { reading, operator } = use;
  endAfter(rules.timeout, terminal);
  const state = await open({ keyText: readKey(), reading });
  const early = await chooseServer(invocation, use);
  const lock = reading ? null : resources.use(await (waitForLock ?? lockNow)(state));
  // An embedded control plane may have ended with the process that held the lock.
  const mayHaveEnded = waitForLock !== undefined && early.name === "embedded";
  const choice = mayHaveEnded ? await chooseServer(invocation, use) : early;
  const { env, cwd } = terminal;
  const keyFile = operator.sops?.ageKeyFile ?? null;
  const secrets = {
    sources: operator.secretSources ?? [],
    sendsReferences: use.isCopy ?? false,
    identities: () => loadAgeIdentities({ env, cwd, keyFile }),
    program: operator.sops?.program ?? null,
  };
  const session = await openSession({
    ...connectOptions(invocation, use, rules),
    server: choice,
    token: choice.token,
    ...(choice.renew === undefined ? {} : { renewToken: choice.renew }),
    actor: use.actor,
    revision: use.revision,
    state,
    folder,
    onForgotten,
    sink: use.sink ?? sinkUnchosen(choice, use, terminal),
    secrets,
    cwd: terminal.cwd,
    registersModels: operator.modelVersionWrite === "post",
    build: build(),
    caches,
  });
  resources.use(session);
  return { session, state, lock, credential: choice.credential, url: choice.url };
}

/** How a command talks to a control plane, whichever it is. */
export function connectOptions(
  invocation: Invocation,
  { reading, meter, limit, answersAsGiven = false }: Pick<ServerUse, "reading" | "meter" | "limit" | "answersAsGiven">,
  { concurrency, requestTimeoutMs }: { readonly concurrency: number; readonly requestTimeoutMs: number },
): Omit<ConnectOptions, "server" | "token"> {
  const { flags, terminal } = invocation;
  return {
    concurrency,
    limit,
    requestTimeout: requestTimeoutMs,
    connectTimeout: milliseconds(flags.connectTimeout) ?? 10_000,
    retryWait: milliseconds(flags.retryWait) ?? 60_000,
    answersAsGiven,
    onWait: (text, { isUnreachable }) => {
      if (!isUnreachable || logOf(terminal.stderr) === null) sayWait(terminal, text);
    },
    ...(meter === undefined ? {} : { onRequest: meter.request }),
    stopping: terminal.stopping,
    ...(flags.caFile === undefined ? {} : { caFile: resolve(terminal.cwd, flags.caFile) }),
    clock: terminal.clock,
    random: terminal.random,
    env: terminal.env,
    userAgent: "holdfast",
    // A stop request cancels reads at once; a write in flight is finished.
    signal: reading ? terminal.stopping : terminal.signal,
    // In text, the wait and the error of the command say that the control plane cannot be reached.
    log: terminalLog(invocation, logOf(terminal.stderr) === null ? "error" : "info"),
  };
}

const lockNow: LockState = (state) => state.lock();

function sinkUnchosen(choice: ServerChoice, { unattended = false }: ServerUse, { env }: Terminal): ChosenSink | null {
  const byDefault = defaultSink === null ? null : { type: defaultSink, settings: {} };
  if (choice.name === "embedded") return byDefault;
  // No person reads the output of an unattended run, so the sink of its one-time tokens must be chosen explicitly.
  return unattended || env.CI ? null : byDefault;
}

/** The control plane that flags or operator keys name, else the embedded one. */
export async function chooseServer(
  { flags, terminal }: Invocation,
  use: Pick<ServerUse, "operator" | "embedded">,
): Promise<ServerChoice> {
  const { operator } = use;
  const server = flags.server ?? operator.server ?? null;
  const embedded = flags.embedded ?? false;
  if (flags.server !== undefined && embedded) {
    throw new HoldfastError("invalid", "--server and --embedded exclude each other", { hint: "give one of them" });
  }
  if (!embedded && server !== null) {
    const tokenFile = flags.tokenFile ?? operator.tokenFile ?? null;
    return serverWithToken({ server, tokenFile, login: operator.login ?? {} }, { flags, terminal });
  }
  return use.embedded();
}

/** A control plane by its address, with the token that is given for it, else with that of its login. */
export async function serverWithToken(
  { server, tokenFile, login: wanted }: Pick<ServerRequest, "tokenFile"> & ServerWithLogin,
  use: Pick<Invocation, "terminal"> & { readonly flags: Pick<Invocation["flags"], "caFile" | "requestTimeout"> },
): Promise<ServerChoice> {
  const { terminal } = use;
  const choice = namedServer(server, { server, embedded: false, tokenFile }, terminal);
  if (tokenFile !== null || terminal.env.HOLDFAST_TOKEN) return choice;
  // Loaded here, since most commands are given a token.
  const { currentLogin } = await import("./login.ts");
  const login = await currentLogin(server, wanted, use);
  if (login === null) return choice;
  const { issuer, token, renew } = login;
  return { ...choice, token, renew, credential: { from: "login", place: issuer } };
}

type ServerWithLogin = { readonly server: string; readonly login: NonNullable<OperatorConfig["login"]> };
