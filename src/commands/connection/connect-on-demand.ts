// src/commands/connection: the control plane that a command uses. See docs/control-plane.md#running-it.

import type { WriteRevision } from "../../client/compose-request.ts";
import { HoldfastError } from "../../core/errors.ts";
import { sinks } from "../../engine/sinks/index.ts";
import type { LockState, Rules, TargetConnection, TargetServer } from "../../engine/target.ts";
import type { ChosenSink, SinkType } from "../../engine/token-sink.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { TargetState } from "../../state/state.ts";
import { storeErrorCode } from "../../store/store-error.ts";
import type { Invocation } from "../command.ts";
import type { ServerUse } from "./open-connection.ts";

/** Connects to the chosen control plane on the first call of `connect`. */
export function connectOnDemand(
  invocation: Invocation,
  state: TargetState,
  use: ServerUse,
): TargetServer & AsyncDisposable {
  // Chosen here, so that an unknown sink is refused before anything is read.
  const sink = chosenSink(invocation, use.operator);
  let resources = new AsyncDisposableStack();
  const closing = new Set<Promise<void>>();
  let connecting: Promise<TargetConnection> | null = null;
  let connection: TargetConnection | null = null;
  let actor: string | null = null;
  let revision: WriteRevision | null = null;
  const open = async (rules: Rules, lock?: LockState): Promise<TargetConnection> => {
    // Loaded here, so that a command that needs no server does not load the client.
    const { openConnection } = await import("./open-connection.ts");
    const told = { actor: () => actor, revision: () => revision };
    return openConnection(invocation, state, { ...use, sink, ...told }, { rules, lock }, resources);
  };
  return {
    connection: () => connection,
    actFor: (person) => {
      actor = person;
    },
    writeFor: (written) => {
      revision = written;
    },
    connect: async (rules, lock) => {
      connecting ??= open(rules, lock);
      connection = await connecting;
      return connection;
    },
    disconnect: async (reading) => {
      const [ended, open] = [resources, connection];
      resources = new AsyncDisposableStack();
      connecting = null;
      connection = null;
      const closed = reading
        .then(() => ended.disposeAsync())
        // A database that is away keeps what was learnt of the server from being stored; the next pass learns it again.
        .catch((error: unknown) => {
          if (storeErrorCode(error) === null && !(error instanceof HoldfastError)) throw error;
        })
        .finally(() => closing.delete(closed));
      closing.add(closed);
      // A lock that stays would be renewed as long as this process lives.
      await using _ = open?.lock ?? null;
      await open?.session.capabilities.save();
    },
    [Symbol.asyncDispose]: async () => {
      await resources.disposeAsync();
      await Promise.all(closing);
    },
  };
}

// The first named sink; a misspelt name is an error, because one-time tokens would be lost without a sink.
function chosenSink({ flags }: Invocation, operator: OperatorConfig): ChosenSink | null {
  const configured = (operator.sinks ?? []).map((entry) => (typeof entry === "string" ? { type: entry } : entry));
  const named = configured.map((settings): ChosenSink => ({ type: sinkNamed(settings.type), settings }));
  if (flags.sink === undefined) return named[0] ?? null;
  const type = sinkNamed(flags.sink);
  return named.find((one) => one.type === type) ?? { type, settings: {} };
}

function sinkNamed(name: string): SinkType {
  const sink = sinks.find((one) => one.name === name);
  if (sink !== undefined) return sink;
  const known = sinks.map((one) => one.name).join(", ");
  throw new HoldfastError("invalid", `sinks: there is no sink ${name}`, { hint: `name one of these: ${known}` });
}
