import type {
  ResourceEntry,
  ResourceGraphEdge,
  ResourceGraphNode,
  ResourceGraphReply,
} from "../../contract/generated/output.ts";
import type { Identity } from "../../core/manifest.ts";
import type { TargetReferences } from "./dashboard-source.ts";
import { knownKindOf, type ResourceQuery, type ResourceTable } from "./resource-table.ts";

/** What is asked of the graph of a target. */
export type GraphQuery = Pick<ResourceQuery, "state" | "kind" | "attention" | "search" | "limit"> & {
  /** The resource around which the others are; null for all that match. */
  readonly around: Identity | null;
  /** Within how many references of that resource the others are. */
  readonly depth: number;
};

/** What is known of the references of a target, or why nothing is. */
export type KnownReferences =
  | { readonly manifests: "last-pass" | "now"; readonly references: TargetReferences; readonly why: null }
  | { readonly manifests: null; readonly references: null; readonly why: string };

/** More edges than this are not told apart, and take long to lay out. */
const MOST_EDGES = 2000;

const EVERYTHING = { identity: null, state: [], kind: [], attention: false, search: null } as const;
const FROM_BEGINNING = { sort: "attention", offset: 0, limit: Number.POSITIVE_INFINITY } as const;

const NOTHING_KNOWN: Pick<TargetReferences, "of" | "to"> = { of: () => null, to: () => [] };

/**
 * The resources of a target that match, as many as may be shown, and the references between them: first those that need
 * attention with what they are connected with, then the others, each with what it refers to.
 */
export function resourceGraph(
  table: ResourceTable,
  { manifests, references, why }: KnownReferences,
  { around, depth, limit, ...filters }: GraphQuery,
): Omit<ResourceGraphReply, "target"> {
  const known = references ?? NOTHING_KNOWN;
  const { resources: all } = table({ ...EVERYTHING, ...FROM_BEGINNING });
  const { resources, offset: _, matching: __, ...facts } = table({ identity: null, ...filters, ...FROM_BEGINNING });
  const found = new Set(resources.map(({ identity }) => identity));
  const isFiltered = resources.length < facts.total;
  const urgent = resources.flatMap(({ identity, needsAttention }) => (needsAttention ? [identity] : []));
  const reached = around === null ? null : reachedFrom(around, depth, known);
  // Without a filter also what is in no list, such as what nobody declares.
  const matches = reached === null ? found : new Set(reached.keys().filter((one) => !isFiltered || found.has(one)));
  const order =
    reached === null ? urgentFirst(matches, urgent, known) : nearestFirst(matches, new Set(urgent), reached);
  const shown = firstOf(order, limit);
  const rows = rowsOf(shown, all);
  const { edges, left, drawn } = edgesBetween(shown, known);
  const nodeOf = (identity: Identity): ResourceGraphNode => {
    const row = rows.get(identity);
    const declared = known.of(identity);
    const connections = (declared?.length ?? 0) + known.to(identity).length;
    return {
      identity,
      kind: row?.kind ?? knownKindOf(identity),
      state: row?.state ?? null,
      rollout: row?.rollout ?? null,
      hasDrifted: row?.hasDrifted ?? false,
      needsAttention: row?.needsAttention ?? false,
      isDeclared: references === null ? null : declared !== null,
      isMatch: !isFiltered || matches.has(identity),
      hidden: connections - (drawn.get(identity) ?? 0),
    };
  };
  return {
    references: { manifests, commit: references?.commit ?? null, why },
    ...facts,
    matching: matches.size,
    leftOut: matches.size - matches.intersection(shown).size,
    referencesLeftOut: left,
    nodes: Array.from(shown, nodeOf),
    edges,
  };
}

// Read only as far as there is space.
function* urgentFirst(
  matches: ReadonlySet<Identity>,
  urgent: readonly Identity[],
  { of, to }: Pick<TargetReferences, "of" | "to">,
): Iterable<Identity> {
  yield* urgent;
  for (const identity of urgent) yield* of(identity) ?? [];
  for (const identity of urgent) yield* to(identity).filter((one) => matches.has(one));
  for (const identity of matches) {
    yield identity;
    yield* of(identity) ?? [];
  }
}

function firstOf(identities: Iterable<Identity>, limit: number): ReadonlySet<Identity> {
  const first = new Set<Identity>();
  for (const identity of identities) {
    if (first.size >= limit) break;
    first.add(identity);
  }
  return first;
}

// Of a resource that is declared twice, the list has the worst first.
function rowsOf(shown: ReadonlySet<Identity>, all: readonly ResourceEntry[]): ReadonlyMap<Identity, ResourceEntry> {
  const rows = new Map<Identity, ResourceEntry>();
  for (const row of all) if (shown.has(row.identity) && !rows.has(row.identity)) rows.set(row.identity, row);
  return rows;
}

/** The resources within a distance of one, the nearest first, each with the one before it; null for that one itself. */
type Reached = ReadonlyMap<Identity, Identity | null>;

// What it needs and what needs it, but not what else needs the same: that would be everything on its cluster.
function reachedFrom(around: Identity, depth: number, { of, to }: Pick<TargetReferences, "of" | "to">): Reached {
  const reached = new Map<Identity, Identity | null>([[around, null]]);
  const waysOf = [(one: Identity) => of(one) ?? [], to];
  let borders = waysOf.map(() => [around]);
  for (let distance = 1; distance <= depth; distance += 1) {
    borders = borders.map((border, way) => {
      const next: Identity[] = [];
      for (const from of border) {
        for (const one of waysOf[way]?.(from) ?? []) {
          if (reached.has(one)) continue;
          reached.set(one, from);
          next.push(one);
        }
      }
      return next;
    });
  }
  return reached;
}

/** The one around which the others are, those that need attention, and the others; each after those on the way to it. */
function* nearestFirst(
  matches: ReadonlySet<Identity>,
  urgent: ReadonlySet<Identity>,
  reached: Reached,
): Iterable<Identity> {
  yield* reached.keys().take(1);
  for (const identity of matches) if (urgent.has(identity)) yield* wayTo(identity, reached);
  for (const identity of matches) yield* wayTo(identity, reached);
}

function wayTo(identity: Identity, reached: Reached): readonly Identity[] {
  const way: Identity[] = [];
  for (let at: Identity | null = identity; at !== null; at = reached.get(at) ?? null) way.unshift(at);
  return way;
}

function edgesBetween(shown: ReadonlySet<Identity>, { of }: Pick<TargetReferences, "of">) {
  const edges: ResourceGraphEdge[] = [];
  const drawn = new Map<Identity, number>();
  let left = 0;
  for (const from of shown) {
    for (const to of of(from) ?? []) {
      if (!shown.has(to)) continue;
      if (edges.length >= MOST_EDGES) {
        left += 1;
        continue;
      }
      edges.push({ from, to });
      for (const end of [from, to]) drawn.set(end, (drawn.get(end) ?? 0) + 1);
    }
  }
  return { edges, left, drawn };
}
