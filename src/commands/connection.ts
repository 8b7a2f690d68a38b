import { HoldfastError } from "../core/errors.ts";
import { openSession, type Session } from "../engine/session.ts";
import type { SinkType } from "../engine/sink.ts";
import { defaultSink } from "../engine/sinks/index.ts";
import { printable } from "../render/escape.ts";
import { openState } from "../state/open.ts";
import type { State } from "../state/state.ts";
import { buildOf } from "./build.ts";
import type { Invocation } from "./command.ts";
import { tellForgotten } from "./forgotten.ts";
import type { Prepared } from "./prepare.ts";
import { attach, namedServer, noServer, type ServerChoice } from "./server-choice.ts";
import { readStateKey } from "./state-key.ts";
import { endAfter, sayWait } from "./terminal.ts";

/** A session, and what else ends with the command. */
export type Connected = {
  readonly session: Session;
  readonly state: State;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** Opens the state folder and a session with the chosen control plane, starting the embedded one where asked to. */
export async function openConnection(
  { flags, terminal }: Invocation,
  { settings, operator, repository, rememberWith }: Prepared,
  { reading, unattended = false }: { readonly reading: boolean; readonly unattended?: boolean },
): Promise<Connected> {
  if (flags.timeout === undefined) endAfter(repository.timeout, terminal);
  const onForgotten = tellForgotten(terminal);
  const state = await openState(settings.state, { keyText: readStateKey(terminal), reading, onForgotten });
  if (state.isWritable) rememberWith(state.key);
  await using resources = new AsyncDisposableStack();
  const choice = await chooseServer();
  const session = await openSession({
    server: choice,
    token: choice.token,
    state,
    folder: settings.state,
    onForgotten,
    sink: settings.sink ?? (choice.name === "embedded" ? defaultSink : sinkUnchosen()),
    registersModels: settings.registersModels,
    build: buildOf(terminal.program),
    concurrency: settings.concurrency,
    requestTimeout: settings.requestTimeoutMs,
    connectTimeout: settings.connectTimeoutMs,
    retryWait: settings.retryWaitMs,
    onWait: (text) => sayWait(terminal, text),
    stopping: terminal.stopping,
    ...(settings.caFile === null ? {} : { caFile: settings.caFile }),
    env: terminal.env,
    userAgent: "holdfast",
    // Reads end at once when asked to; a write in flight is finished.
    signal: reading ? terminal.stopping : terminal.signal,
    log: settings.log,
  });
  resources.use(session);
  const owned = resources.move();
  return { session, state, [Symbol.asyncDispose]: () => owned.disposeAsync() };

  async function chooseServer(): Promise<ServerChoice> {
    const wish = {
      server: flags.server ?? operator.server ?? null,
      embedded: flags.embedded ?? false,
      tokenFile: flags.tokenFile ?? operator.tokenFile ?? null,
    };
    if (flags.server !== undefined && wish.embedded) {
      throw new HoldfastError("invalid", "--server and --embedded exclude each other", { hint: "give one of them" });
    }
    if (wish.embedded) {
      const attached = await attach(settings.state, { signal: terminal.stopping });
      if (attached !== null) return attached;
      // Only who serves it pays for loading it.
      const { startEmbedded } = await import("./embedded.ts");
      const embedded = await startEmbedded(settings.state, settings.log, terminal);
      resources.use(embedded);
      return embedded.choice;
    }
    if (wish.server !== null) return namedServer(wish.server, wish, terminal);
    const attached = await attach(settings.state, { signal: terminal.stopping });
    if (attached === null) throw noServer();
    terminal.stderr.write(`using the embedded control plane at ${printable(attached.url)}\n`);
    return attached;
  }

  // Nobody reads where an unattended run has put a one-time token, so it must be told where they may go.
  function sinkUnchosen(): SinkType | null {
    return unattended || terminal.env.CI ? null : defaultSink;
  }
}
