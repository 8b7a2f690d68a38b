import { shapes } from "../contract/generated/shapes.ts";
import type { Shape } from "../contract/shape.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import type { NotUsed } from "../core/not-used.ts";
import { otherWriterWarnings } from "../core/other-writer.ts";
import type { Step } from "../core/plan.ts";
import type { RecordedHead } from "../core/recorded.ts";
import type { Desired, Look, Looking } from "../engine/look.ts";
import type { Session } from "../engine/session.ts";
import { kindOf } from "../kinds/index.ts";
import type { Invocation } from "./command.ts";
import type { Prepared } from "./prepare.ts";

/** The shape of a manifest type; generated from its schema. */
export function shapeOf(type: string): Shape {
  const shape = shapes[type];
  if (shape === undefined) throw new TypeError(`no shape ${type}`);
  return shape;
}

/** The workspace or repo that a resource is shown under. */
export function groupOf({ identity }: { readonly identity: Identity }): string | null {
  const { kind, key } = splitIdentity(identity);
  return kindOf(kind)?.group(key) ?? null;
}

/** What the source wants, for the engine. */
export function desiredOf(prepared: Prepared): Desired {
  const { loaded, revision, selected, isWhole, base } = prepared;
  return {
    revision: revision.commit,
    manifests: selected,
    waves: loaded.waves,
    declared: loaded.declared,
    invalid: loaded.invalid,
    isWhole,
    base,
    diagnostics: loaded.diagnostics,
  };
}

/** What the engine needs to look at a server. */
export function lookingAt(
  { server, reader, probeRoute, memory, remember, ledger, remembrance, sink }: Session,
  recorded: ReadonlyMap<Identity, RecordedHead>,
  { settings, now }: Prepared,
  { flags, terminal }: Invocation,
  { records }: Pick<Looking, "records">,
): Looking {
  return {
    server,
    reader,
    probeRoute,
    memory,
    remember,
    ledger,
    recorded,
    remembrance,
    kindOf,
    shapeOf,
    ignore: settings.ignore,
    hasSink: sink !== null,
    concurrency: settings.concurrency,
    now,
    ...(flags.allowShrink ? {} : { liveLimits: settings.guards }),
    records,
    signal: terminal.stopping,
  };
}

/** How many fields differ and are left alone, since a rule says so. */
export function ignoredIn({ decisions }: Look): number {
  return [...decisions.values()].reduce((sum, { ignored }) => sum + ignored.length, 0);
}

/** What stands behind a step's reason. */
export function detailIn({ decisions }: Look): (step: Step) => string | null {
  return ({ identity }) => decisions.get(identity)?.detail ?? null;
}

/** Warns of another writer that no lease keeps apart. */
export function otherWriters(
  { observation, recorded }: Look,
  { serverTime, memory }: Session,
  { now }: Prepared,
): readonly Diagnostic[] {
  const { subject } = memory;
  return otherWriterWarnings({ live: observation.live, recorded, subject, now: serverTime() ?? now() });
}

/** What the control plane lacks, for a report in JSON; nothing where it lacks nothing. */
export function whatIsNotUsed({ notUsed }: Pick<Look, "notUsed">): { readonly notUsed?: readonly NotUsed[] } {
  return notUsed.length === 0 ? {} : { notUsed };
}
