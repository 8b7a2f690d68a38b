import { HoldfastError } from "../../core/errors.ts";
import { type GraphNode, referrersOf } from "../../core/graph.ts";
import type { Identity } from "../../core/manifest.ts";
import type { TargetReferences } from "../../daemon/api/dashboard-source.ts";
import { type DesiredRead, load } from "../../engine/load.ts";
import type { Loaded } from "../../manifests/load-manifests.ts";
import type { CommandTarget } from "./create-target.ts";
import type { ExplainerOptions } from "./explain-resource.ts";
import { type FoundTargets, usableTarget } from "./find-targets.ts";

/** Finds out what refers to what in the manifests of targets, for those who look at a dashboard. */
export type ReferenceReader = {
  /** As the last pass of this process has read them; null where it does not remember them. */
  readonly last: (target: CommandTarget) => TargetReferences | null;
  /** As they are now, or were a moment ago at the same version of what is known of the target. */
  readonly read: (target: CommandTarget, version: number) => Promise<TargetReferences>;
};

/** How long one reading may take, and how long it is used again, in milliseconds. */
const MOST_MS = 15_000;
const KEPT_MS = 60_000;

/** Creates what reads references; of what it reads itself, it keeps that of one target for a minute. */
export function referenceReader(
  { reader }: Pick<FoundTargets, "reader">,
  { lastRead, terminal: { clock, stopping: ended } }: ExplainerOptions,
): ReferenceReader {
  let kept: { readonly key: string; readonly reading: Promise<TargetReferences> } | null = null;
  const readNow = async (target: CommandTarget): Promise<TargetReferences> => {
    const late = clock.timeout(MOST_MS);
    await using own = reader(usableTarget(target, { reading: true }), { signal: late });
    const stopping = AbortSignal.any([ended, late]);
    try {
      const read = await load(own, { clock, stopping }, { before: null });
      return { ...copied(loadedIn(read)), commit: read.desired.revision };
    } catch (error) {
      if (!late.aborted) throw error;
      throw new HoldfastError("timeout", `it was not read within ${MOST_MS / 1000} s`, { cause: error });
    }
  };
  return {
    last: ({ name }) => {
      const read = lastRead(name);
      return read === null ? null : { ...referencesIn(loadedIn(read)), commit: read.desired.revision };
    },
    read: (target, version) => {
      const key = JSON.stringify([target.name, version]);
      if (kept?.key === key) return kept.reading;
      const reading = readNow(target);
      const mine = { key, reading };
      kept = mine;
      const drop = (): void => {
        if (kept === mine) kept = null;
      };
      reading.catch(drop);
      clock.after(KEPT_MS, drop, { ref: false });
      return reading;
    },
  };
}

type References = Pick<TargetReferences, "of" | "to">;

function loadedIn({ from }: DesiredRead): Loaded {
  if (from === null) throw new TypeError("a revision was read and not kept");
  return from.loaded;
}

/** What is in memory anyway, so that nothing is kept beside it. */
function referencesIn(loaded: Loaded): References {
  const refused = new Map(refusedIn(loaded).map((node) => [node.identity, node]));
  const refusedTo = referrersOf([...refused.values()]);
  return {
    of: (identity) => targetsOf(loaded.manifestsByIdentity.named(identity) ?? refused.get(identity)),
    to: (identity) => each((loaded.referrers().get(identity) ?? []).concat(refusedTo.get(identity) ?? [])),
  };
}

/** The references alone, so that the manifests are released. */
function copied(loaded: Loaded): References {
  const nodes = [...loaded.manifests, ...refusedIn(loaded)];
  const targets = new Map(nodes.map((node) => [node.identity, targetsOf(node)]));
  const referrers = referrersOf(nodes);
  return {
    of: (identity) => targets.get(identity) ?? null,
    to: (identity) => each(referrers.get(identity) ?? []),
  };
}

// What is refused, such as a cycle, is what a graph is opened for.
function refusedIn({ contents: { files }, invalid }: Loaded): readonly GraphNode[] {
  if (invalid.size === 0) return [];
  return files.flatMap(({ content }) =>
    content.declarations.flatMap(({ identity, references }) =>
      identity !== null && invalid.has(identity) ? [{ identity, references }] : [],
    ),
  );
}

function targetsOf(node: GraphNode | undefined): readonly Identity[] | null {
  return node === undefined ? null : each(node.references.map(({ identity }) => identity));
}

function each(identities: readonly Identity[]): readonly Identity[] {
  return identities.length < 2 ? identities : [...new Set(identities)];
}
