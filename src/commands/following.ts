import type { Progress } from "../engine/apply.ts";
import type { FollowOptions } from "../engine/follow.ts";
import { kindOf } from "../kinds/index.ts";
import { outcomeText, type PlaceOf } from "../render/apply.ts";
import { printable } from "../render/escape.ts";
import type { Invocation } from "./command.ts";
import { shapeOf } from "./looking.ts";
import type { Prepared } from "./prepare.ts";
import { sayWait } from "./terminal.ts";

/** How a command follows its plan, telling a person at a terminal how it goes. */
export function followOptions(
  { flags, terminal }: Invocation,
  prepared: Prepared,
  { hurry = new AbortController().signal }: { readonly hurry?: AbortSignal } = {},
): FollowOptions {
  const { settings, now } = prepared;
  const placeOf = placesIn(prepared);
  const { concurrency, wait, requestTimeoutMs, rolloutTimeoutMs, paint } = settings;
  const show = (progress: Progress): void => {
    if (progress.what === "rollout")
      terminal.stderr.write(`  ${printable(progress.step.identity)}: ${progress.status}\n`);
    if (progress.what === "finished") terminal.stderr.write(`  ${outcomeText(progress.outcome, paint, placeOf)}\n`);
  };
  return {
    kindOf,
    shapeOf,
    concurrency,
    wait,
    failFast: flags.failFast ?? false,
    requestTimeoutMs,
    rolloutTimeoutMs,
    now,
    stopping: terminal.stopping,
    hurry,
    signal: terminal.signal,
    onProgress: (progress) => {
      if (progress.what === "waiting") sayWait(terminal, progress.text);
      else if (terminal.stderr.isTTY) show(progress);
    },
  };
}

/** Finds the place of an outcome's manifest, down to the field that the control plane named. */
export function placesIn({ selected }: Pick<Prepared, "selected">): PlaceOf {
  const manifests = new Map(selected.map((manifest) => [manifest.identity, manifest]));
  return ({ identity, error }) => {
    const manifest = manifests.get(identity);
    if (manifest === undefined) return null;
    const { line, column } = error?.pointer ? manifest.locate(error.pointer) : { line: manifest.line, column: 1 };
    return `${manifest.file}:${line}:${column}`;
  };
}
