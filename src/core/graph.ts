import { compareText } from "../contract/json.ts";
import type { Identity, Reference } from "./manifest.ts";

/** A resource and its references: the input for ordering. */
export type GraphNode = { readonly identity: Identity; readonly references: readonly Reference[] };

/** The reference graph of a source. References to resources outside the graph do not affect the order. */
export type Graph = {
  /** Every node outside a cycle, each after everything it refers to. */
  readonly order: readonly Identity[];
  /** Depth from 0: one more than the deepest node that it refers to. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** A shortest path of each cycle; its first and last node are the same. */
  readonly cycles: readonly (readonly Identity[])[];
  /** Every node on a cycle, including nodes that are not on its shortest path. */
  readonly cyclic: ReadonlySet<Identity>;
};

/** The targets of each node's references. Nodes are numbered in the order of their identities. */
type Targets = readonly (readonly number[])[];

/** Orders the nodes by their references. The result does not depend on the order of the input. */
export function resolveGraph(nodes: readonly GraphNode[]): Graph {
  const sorted = nodes.toSorted((a, b) => compareText(a.identity, b.identity));
  const targets = targetsOf(sorted);
  const all = wavesOf(targets, new Set());
  // A node that never became ready is on a cycle or depends on one.
  const isWhole = all.reduce((sum, wave) => sum + wave.length, 0) === targets.length;
  const cyclicComponents = isWhole ? [] : components(targets).filter((component) => isCyclic(targets, component));
  const cyclic = new Set(cyclicComponents.flat());
  const waves = cyclic.size === 0 ? all : wavesOf(targets, cyclic);
  const cycles = cyclicComponents.map((component) => shortestCycle(targets, new Set(component)));
  const name = (node: number): Identity => sorted[node]?.identity ?? "";
  return {
    order: waves.flat().map(name),
    waves: new Map(waves.flatMap((nodes, depth) => nodes.map((node) => [name(node), depth]))),
    cycles: cycles.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0)).map((cycle) => cycle.map(name)),
    cyclic: new Set(cyclic.values().map(name)),
  };
}

/** The referrers of each identity. */
export function referrersOf(nodes: readonly GraphNode[]): ReadonlyMap<Identity, readonly Identity[]> {
  const referrers = new Map<Identity, Identity[]>();
  for (const { identity, references } of nodes) {
    for (const reference of references) add(referrers, reference.identity, identity);
  }
  return referrers;
}

/** Everything that refers to one of the identities, directly or transitively, without the identities themselves. */
export function transitiveDependantsOf(
  nodes: readonly GraphNode[],
  identities: Iterable<Identity>,
): ReadonlySet<Identity> {
  return reach(referrersOf(nodes), identities);
}

/** Everything that the identities refer to, directly or transitively, without the identities themselves. */
export function requirementsOf(nodes: readonly GraphNode[], identities: Iterable<Identity>): ReadonlySet<Identity> {
  const known = new Set(nodes.map(({ identity }) => identity));
  const edges = nodes.map(({ identity, references }): [Identity, readonly Identity[]] => [
    identity,
    references.flatMap((reference) => (known.has(reference.identity) ? [reference.identity] : [])),
  ]);
  return reach(new Map(edges), identities);
}

function reach(edges: ReadonlyMap<Identity, readonly Identity[]>, from: Iterable<Identity>): ReadonlySet<Identity> {
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

function targetsOf(sorted: readonly GraphNode[]): Targets {
  const numbers = new Map(sorted.map(({ identity }, number) => [identity, number]));
  return sorted.map(({ references }) => {
    const targets = references.flatMap(({ identity }) => numbers.get(identity) ?? []);
    return targets.length < 2 ? targets : [...new Set(targets)].toSorted((a, b) => a - b);
  });
}

function add<Key, Value>(edges: Map<Key, Value[]>, from: Key, to: Value): void {
  const known = edges.get(from);
  if (known) known.push(to);
  else edges.set(from, [to]);
}

function isCyclic(targets: Targets, component: readonly number[]): boolean {
  const [first = -1] = component;
  return component.length > 1 || (targets[first]?.includes(first) ?? false);
}

// Tarjan's strongly connected components with its own stack: a chain of 100,000 references must not exhaust the call stack.
function components(targets: Targets): readonly (readonly number[])[] {
  const index = new Map<number, number>();
  const low = new Map<number, number>();
  const held: number[] = [];
  const isHeld = new Set<number>();
  const found: number[][] = [];
  const enter = (node: number): { readonly node: number; readonly targets: readonly number[]; next: number } => {
    index.set(node, index.size);
    low.set(node, index.size - 1);
    held.push(node);
    isHeld.add(node);
    return { node, targets: targets[node] ?? [], next: 0 };
  };
  const lower = (node: number, to: number | undefined) => low.set(node, Math.min(low.get(node) ?? 0, to ?? 0));
  const leave = (node: number) => {
    if (low.get(node) !== index.get(node)) return;
    const component = held.splice(held.lastIndexOf(node));
    for (const member of component) isHeld.delete(member);
    found.push(component);
  };
  for (const root of targets.keys()) {
    if (index.has(root)) continue;
    const visits = [enter(root)];
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const target = visit.targets[visit.next++];
      if (target === undefined) {
        visits.pop();
        leave(visit.node);
        const parent = visits.at(-1);
        if (parent) lower(parent.node, low.get(visit.node));
      } else if (!index.has(target)) visits.push(enter(target));
      else if (isHeld.has(target)) lower(visit.node, index.get(target));
    }
  }
  return found;
}

// Kahn's algorithm, one wave at a time. Nodes on a cycle never become ready, so they are excluded beforehand.
function wavesOf(targets: Targets, cyclic: ReadonlySet<number>): readonly (readonly number[])[] {
  const users: number[][] = targets.map(() => []);
  const waiting = new Int32Array(targets.length);
  let ready: number[] = [];
  for (const [node, all] of targets.entries()) {
    if (cyclic.has(node)) continue;
    const needed = cyclic.size === 0 ? all : all.filter((target) => !cyclic.has(target));
    waiting[node] = needed.length;
    if (needed.length === 0) ready.push(node);
    for (const target of needed) users[target]?.push(node);
  }
  const waves: (readonly number[])[] = [];
  while (ready.length > 0) {
    waves.push(ready);
    const next: number[] = [];
    for (const node of ready) {
      for (const user of users[node] ?? []) {
        const left = (waiting[user] ?? 0) - 1;
        waiting[user] = left;
        if (left === 0) next.push(user);
      }
    }
    ready = next.toSorted((a, b) => a - b);
  }
  return waves;
}

function shortestCycle(targets: Targets, component: ReadonlySet<number>): readonly number[] {
  const start = component.values().reduce((least, node) => Math.min(least, node));
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const target of targets[node] ?? []) {
      if (target === start) return [...trace(cameFrom, start, node), start];
      if (!component.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, node);
      queue.push(target);
    }
  }
  return [start];
}

function trace(cameFrom: ReadonlyMap<number, number>, start: number, end: number): readonly number[] {
  const path = [end];
  for (let at = end; at !== start; ) {
    at = cameFrom.get(at) ?? start;
    path.unshift(at);
  }
  return path;
}
