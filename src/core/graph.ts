import { compareText } from "./diagnostic.ts";
import type { Identity, Reference } from "./manifest.ts";

/** A resource and what it refers to: all that ordering needs to know. */
export type GraphNode = { readonly identity: Identity; readonly references: readonly Reference[] };

/** The reference graph of a source; references to what is not among its nodes carry no order. */
export type Graph = {
  /** Every node outside a cycle, each after everything it refers to. */
  readonly order: readonly Identity[];
  /** Depth from 0: one more than the deepest of what the node refers to. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** A shortest path of each cycle, first and last being the same. */
  readonly cycles: readonly (readonly Identity[])[];
  /** Every node that lies on a cycle, the ones off its shortest path included. */
  readonly cyclic: ReadonlySet<Identity>;
};

type Targets = ReadonlyMap<Identity, readonly Identity[]>;

/** Orders the nodes by their references; the same nodes in any order give the same graph. */
export function resolveGraph(nodes: readonly GraphNode[]): Graph {
  const targets = targetsOf(nodes);
  const all = depths(targets, new Set());
  // Whatever never became ready lies on a cycle or behind one; mostly there is nothing.
  const knots = all.size === targets.size ? [] : components(targets).filter((knot) => isCyclic(targets, knot));
  const cyclic = new Set(knots.flat());
  const waves = cyclic.size === 0 ? all : depths(targets, cyclic);
  const order = [...waves.keys()];
  const cycles = knots.map((knot) => shortestCycle(targets, new Set(knot)));
  return { order, waves, cycles: cycles.toSorted((a, b) => compareText(a[0] ?? "", b[0] ?? "")), cyclic };
}

/** Everything that refers to one of the identities, directly or through others, these not included. */
export function dependantsOf(nodes: readonly GraphNode[], identities: Iterable<Identity>): ReadonlySet<Identity> {
  const users = new Map<Identity, Identity[]>();
  for (const { identity, references } of nodes) {
    for (const reference of references) add(users, reference.identity, identity);
  }
  return reach(users, identities);
}

/** Everything that the identities refer to, directly or through others, these not included. */
export function requirementsOf(nodes: readonly GraphNode[], identities: Iterable<Identity>): ReadonlySet<Identity> {
  return reach(targetsOf(nodes), identities);
}

function reach(edges: Targets, from: Iterable<Identity>): ReadonlySet<Identity> {
  const start = new Set(from);
  const found = new Set<Identity>();
  const open = [...start];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of edges.get(next) ?? []) {
      if (found.has(target) || start.has(target)) continue;
      found.add(target);
      open.push(target);
    }
  }
  return found;
}

function targetsOf(nodes: readonly GraphNode[]): Targets {
  const known = new Set(nodes.map(({ identity }) => identity));
  return new Map(
    nodes
      .toSorted((a, b) => compareText(a.identity, b.identity))
      .map(({ identity, references }) => {
        const targets = references.flatMap((reference) => (known.has(reference.identity) ? [reference.identity] : []));
        return [identity, targets.length < 2 ? targets : [...new Set(targets)].toSorted(compareText)];
      }),
  );
}

function add(edges: Map<Identity, Identity[]>, from: Identity, to: Identity): void {
  const known = edges.get(from);
  if (known) known.push(to);
  else edges.set(from, [to]);
}

function isCyclic(targets: Targets, knot: readonly Identity[]): boolean {
  const [first = ""] = knot;
  return knot.length > 1 || (targets.get(first)?.includes(first) ?? false);
}

type Visit = { readonly identity: Identity; readonly targets: readonly Identity[]; next: number };

// Tarjan's strongly connected components with its own stack: a chain of 100,000 references must not exhaust the call stack.
function components(targets: Targets): readonly (readonly Identity[])[] {
  const index = new Map<Identity, number>();
  const low = new Map<Identity, number>();
  const held: Identity[] = [];
  const isHeld = new Set<Identity>();
  const found: Identity[][] = [];
  const enter = (identity: Identity): Visit => {
    index.set(identity, index.size);
    low.set(identity, index.size - 1);
    held.push(identity);
    isHeld.add(identity);
    return { identity, targets: targets.get(identity) ?? [], next: 0 };
  };
  const lower = (identity: Identity, to: number | undefined) =>
    low.set(identity, Math.min(low.get(identity) ?? 0, to ?? 0));
  const leave = (identity: Identity) => {
    if (low.get(identity) !== index.get(identity)) return;
    const knot = held.splice(held.lastIndexOf(identity));
    for (const member of knot) isHeld.delete(member);
    found.push(knot);
  };
  for (const root of targets.keys()) {
    if (index.has(root)) continue;
    const visits = [enter(root)];
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const target = visit.targets[visit.next++];
      if (target === undefined) {
        visits.pop();
        leave(visit.identity);
        const parent = visits.at(-1);
        if (parent) lower(parent.identity, low.get(visit.identity));
      } else if (!index.has(target)) visits.push(enter(target));
      else if (isHeld.has(target)) lower(visit.identity, index.get(target));
    }
  }
  return found;
}

// Kahn's algorithm, one wave at a time; what lies on a cycle never becomes ready and is left out beforehand.
function depths(targets: Targets, cyclic: ReadonlySet<Identity>): ReadonlyMap<Identity, number> {
  const users = new Map<Identity, Identity[]>();
  const waiting = new Map<Identity, number>();
  for (const [identity, all] of targets) {
    if (cyclic.has(identity)) continue;
    const needed = all.filter((target) => !cyclic.has(target));
    waiting.set(identity, needed.length);
    for (const target of needed) add(users, target, identity);
  }
  const waves = new Map<Identity, number>();
  let ready = [...waiting.keys()].filter((identity) => waiting.get(identity) === 0);
  for (let wave = 0; ready.length > 0; wave++) {
    const next: Identity[] = [];
    for (const identity of ready) {
      waves.set(identity, wave);
      for (const user of users.get(identity) ?? []) {
        const left = (waiting.get(user) ?? 0) - 1;
        waiting.set(user, left);
        if (left === 0) next.push(user);
      }
    }
    ready = next.toSorted(compareText);
  }
  return waves;
}

function shortestCycle(targets: Targets, knot: ReadonlySet<Identity>): readonly Identity[] {
  const start = [...knot].toSorted(compareText)[0] ?? "";
  const cameFrom = new Map<Identity, Identity>();
  const queue = [start];
  for (const identity of queue) {
    for (const target of targets.get(identity) ?? []) {
      if (target === start) return [...trace(cameFrom, start, identity), start];
      if (!knot.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, identity);
      queue.push(target);
    }
  }
  return [start];
}

function trace(cameFrom: ReadonlyMap<Identity, Identity>, start: Identity, end: Identity): readonly Identity[] {
  const path = [end];
  for (let at = end; at !== start; ) {
    at = cameFrom.get(at) ?? start;
    path.unshift(at);
  }
  return path;
}
