import { HoldfastError } from "../core/errors.ts";
import { shrinkGuard } from "../core/guard.ts";
import type { Applied } from "../engine/apply.ts";
import { follow, recoverPending } from "../engine/follow.ts";
import { look } from "../engine/look.ts";
import { createTrigger, loop } from "../engine/loop.ts";
import { lockState } from "../engine/state.ts";
import { applyLine, outcomeText } from "../render/apply.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { printable } from "../render/escape.ts";
import { watchSource } from "../source/watch.ts";
import type { Invocation } from "./command.ts";
import { type Connected, openConnection } from "./connection.ts";
import { followOptions, placesIn } from "./following.ts";
import { desiredOf, lookingAt } from "./looking.ts";
import { type Prepared, prepare } from "./prepare.ts";

const INTERVAL_S = 60;

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const first = await prepare(invocation);
  await using connected = await openConnection(invocation, first, { reading: false });
  await using _lock = lockState(connected.state);
  const trigger = createTrigger();
  const told = createTeller(invocation);
  const { root, repository, settings } = first;
  const watched = {
    root,
    paths: repository.paths,
    ignore: [settings.state],
    onChange: trigger.ring,
    onTrouble: told.failure,
  };
  await watchSource(watched, { signal: terminal.stopping });
  const intervalMs = (flags.interval ?? INTERVAL_S) * 1000;
  await loop(() => pass(invocation, connected, told), { trigger, intervalMs, signal: terminal.stopping });
  if (terminal.stopping.reason instanceof HoldfastError && terminal.stopping.reason.code === "terminated") return 0;
  throw terminal.stopping.reason;
}

// A pass that fails leaves everything as it was; the next one looks again.
async function pass(invocation: Invocation, connected: Connected, told: Teller): Promise<void> {
  try {
    await reconcile(invocation, connected, told);
  } catch (error) {
    if (invocation.terminal.stopping.aborted) return;
    if (error instanceof HoldfastError && error.code === "unauthorized") throw error;
    told.failure(error);
  }
}

async function reconcile(invocation: Invocation, { session }: Connected, told: Teller): Promise<void> {
  const { terminal, flags } = invocation;
  const prepared = await prepare(invocation);
  told.diagnostics(prepared);
  const options = followOptions(invocation, prepared);
  await recoverPending(session, options);
  const recorded = await session.recorded();
  const desired = desiredOf(prepared);
  const shrunk = flags.allowShrink ? null : shrinkGuard(recorded.keys(), desired.declared, prepared.settings.guards);
  if (shrunk !== null) {
    throw new HoldfastError("refused", shrunk, {
      hint: "nothing is written until it is whole again, or with --allow-shrink",
    });
  }
  const looked = await look(desired, lookingAt(session, recorded, prepared, terminal.stopping));
  const applied = await follow(looked, recorded, session, options);
  told.applied(applied, prepared);
}

/** Says what changed from one pass to the next, and is silent while nothing does. */
type Teller = {
  readonly diagnostics: (prepared: Prepared) => void;
  readonly applied: (applied: Applied, prepared: Prepared) => void;
  readonly failure: (error: unknown) => void;
};

function createTeller({ terminal }: Invocation): Teller {
  const last = { diagnostics: "", applied: "", failure: "" };
  const once = (what: keyof typeof last, text: string, stream: NodeJS.WritableStream): void => {
    if (text !== last[what]) stream.write(text);
    last[what] = text;
  };
  return {
    diagnostics: ({ loaded, settings }) =>
      once("diagnostics", diagnosticsText(loaded.diagnostics, settings.paint), terminal.stderr),
    applied: (applied, prepared) => {
      const { paint } = prepared.settings;
      for (const { identity, location } of applied.tokens) terminal.stderr.write(`token of ${identity}: ${location}\n`);
      const lines = applied.outcomes
        .filter(({ result }) => result !== "unchanged")
        .map((outcome) => `  ${outcomeText(outcome, paint, placesIn(prepared))}\n`);
      once("applied", `${lines.join("")}${applyLine(applied)}\n`, terminal.stdout);
      last.failure = "";
    },
    failure: (error) => {
      const hint = error instanceof HoldfastError && error.hint !== null ? `\n  → ${printable(error.hint)}` : "";
      const message = error instanceof Error ? error.message : String(error);
      once("failure", `error: ${printable(message)}${hint}\n`, terminal.stderr);
    },
  };
}
