import { Graph, layout } from "@dagrejs/dagre";

/** A graph to lay out: the nodes by number, and between which of them the edges are. */
export type GraphToLayOut = {
  readonly count: number;
  readonly edges: readonly (readonly [from: number, to: number])[];
};

/** A place in a drawing. */
export type DrawnPoint = { readonly x: number; readonly y: number };

/** A line of a drawing: it is the edges of some nodes to one other. */
export type DrawnLine = {
  readonly from: readonly number[];
  readonly to: number;
  readonly points: readonly DrawnPoint[];
};

/** Where everything of a graph is drawn. */
export type GraphDrawing = {
  readonly width: number;
  readonly height: number;
  /** The size of each node. */
  readonly size: { readonly width: number; readonly height: number };
  /** The upper left corner of each node. */
  readonly nodes: readonly DrawnPoint[];
  readonly lines: readonly DrawnLine[];
  /** Frames around nodes that refer to the same others, and to which none refers: their lines begin at the frame. */
  readonly frames: readonly (DrawnPoint & { readonly width: number; readonly height: number })[];
};

const NODE = { width: 224, height: 46 } as const;

const GAP = 8;
const MARGIN = 8;
const PADDING = 10;
/** From so many alike nodes on, they are put into a frame: a column of a hundred is not looked at. */
const FEWEST_ALIKE = 4;

/** Nodes that are drawn as one: alike ones, or one alone. */
type Block = { readonly members: readonly number[]; readonly columns: number };

/** Lays out a graph: what is referred to stands on the left of what refers to it. */
export function layOut({ count, edges }: GraphToLayOut): GraphDrawing {
  const targets = Array.from({ length: count }, (): number[] => []);
  const isReferredTo = new Set<number>();
  for (const [from, to] of edges) {
    targets[from]?.push(to);
    isReferredTo.add(to);
  }
  const blocks = blocksOf(targets, isReferredTo);
  const { placed, ways } = placedBlocks(blocks, targets);
  const nodes = Array.from({ length: count }, () => ({ x: 0, y: 0 }));
  for (const [at, { x, y }] of placed.entries()) {
    const { members, columns } = blocks[at] ?? { members: [], columns: 1 };
    const inset = members.length > 1 ? PADDING : 0;
    for (const [nth, member] of members.entries()) {
      nodes[member] = {
        x: x + inset + (nth % columns) * (NODE.width + GAP),
        y: y + inset + Math.floor(nth / columns) * (NODE.height + GAP),
      };
    }
  }
  const lines = ways.map(({ from, to, points }): DrawnLine => {
    return { from: blocks[from]?.members ?? [], to: blocks[to]?.members[0] ?? 0, points };
  });
  const loops = edges.flatMap(([from, to]) => (from === to ? [loopAt(from, nodes[from] ?? { x: 0, y: 0 })] : []));
  const frames = placed.filter((_, at) => (blocks[at]?.members.length ?? 0) > 1);
  return moved({ width: 0, height: 0, size: NODE, nodes, lines: [...lines, ...loops], frames }, placed);
}

type Box = DrawnPoint & { readonly width: number; readonly height: number };

type Way = { readonly from: number; readonly to: number; readonly points: readonly DrawnPoint[] };

function placedBlocks(
  blocks: readonly Block[],
  targets: readonly (readonly number[])[],
): { readonly placed: readonly Box[]; readonly ways: readonly Way[] } {
  const graph = new Graph();
  // In this direction, `bottom` is the left side of a column.
  const sides = { rankdir: "RL", rankalign: "bottom" } as const;
  graph.setGraph({ ...sides, nodesep: 16, ranksep: 96, ranker: "tight-tree" });
  for (const [at, block] of blocks.entries()) graph.setNode(String(at), sizeOf(block));
  const blockOf = new Map(blocks.flatMap(({ members }, at) => members.map((member) => [member, at] as const)));
  for (const [at, { members }] of blocks.entries()) {
    for (const to of targets[members[0] ?? 0] ?? []) {
      const other = blockOf.get(to);
      if (other !== at) graph.setEdge(String(at), String(other), {});
    }
  }
  layout(graph);
  const placed = blocks.map((block, at): Box => {
    const { x, y } = rounded(graph.node(String(at)));
    const { width, height } = sizeOf(block);
    return { x: Math.round(x - width / 2), y: Math.round(y - height / 2), width, height };
  });
  const columns = columnsOf(placed);
  const ways = graph.edges().flatMap(({ v, w }: { readonly v: string; readonly w: string }): readonly Way[] => {
    const [from, to] = [Number(v), Number(w)];
    const [source, target] = [placed[from], placed[to]];
    if (source === undefined || target === undefined) return [];
    const { points = [] } = graph.edge(v, w) as { readonly points?: readonly DrawnPoint[] };
    return [{ from, to, points: wayBetween(source, target, { bends: points.slice(1, -1).map(rounded), columns }) }];
  });
  return { placed, ways };
}

/** A column of blocks: from its leftmost to its rightmost side. */
type Column = { readonly left: number; readonly right: number };

function columnsOf(placed: readonly Box[]): readonly Column[] {
  const rights = new Map<number, number>();
  for (const { x, width } of placed) rights.set(x, Math.max(rights.get(x) ?? x, x + width));
  return [...rights].map(([left, right]) => ({ left, right }));
}

/** How far a reference of a cycle, which goes to the right, is below those that go to the left. */
const BELOW = 12;

// A line crosses a column on one height, where the layout has left space for it, and bends between columns.
function wayBetween(
  source: Box,
  target: Box,
  { bends, columns }: { readonly bends: readonly DrawnPoint[]; readonly columns: readonly Column[] },
): readonly DrawnPoint[] {
  const isLeft = target.x < source.x;
  const below = isLeft ? 0 : BELOW;
  const ends = [source, target].map(({ x, y, width, height }, at) => {
    return { x: isLeft === (at === 0) ? x : x + width, y: y + height / 2 + below };
  });
  const crossing = bends.flatMap(({ x, y }) => {
    const column = columns.find(({ left, right }) => left <= x && x <= right);
    if (column === undefined) return [];
    const sides = [
      { x: column.right, y },
      { x: column.left, y },
    ];
    return isLeft ? sides : sides.toReversed();
  });
  return [...ends.slice(0, 1), ...crossing, ...ends.slice(1)];
}

/** A drawing moved so that all of it is within its size: lines may go beyond the nodes. */
function moved(drawing: GraphDrawing, placed: readonly Box[]): GraphDrawing {
  const corners = placed.flatMap(({ x, y, width, height }) => [
    { x, y },
    { x: x + width, y: y + height },
  ]);
  const all = [...corners, ...drawing.lines.flatMap(({ points }) => points)];
  const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)];
  const [left, top] = [
    Math.min(...xs, Number.MAX_SAFE_INTEGER) - MARGIN,
    Math.min(...ys, Number.MAX_SAFE_INTEGER) - MARGIN,
  ];
  const move = <Point extends DrawnPoint>(point: Point): Point => ({ ...point, x: point.x - left, y: point.y - top });
  return {
    ...drawing,
    width: Math.max(0, Math.max(...xs) - left + MARGIN),
    height: Math.max(0, Math.max(...ys) - top + MARGIN),
    nodes: drawing.nodes.map(move),
    lines: drawing.lines.map((line) => ({ ...line, points: line.points.map(move) })),
    frames: drawing.frames.map(move),
  };
}

/** The line of a node that refers to itself, on its right side. */
function loopAt(node: number, { x, y }: DrawnPoint): DrawnLine {
  const [right, middle] = [x + NODE.width, y + NODE.height / 2];
  const points = [
    { x: right, y: middle - 10 },
    { x: right + 30, y: middle - 10 },
    { x: right + 30, y: middle + 10 },
    { x: right, y: middle + 10 },
  ];
  return { from: [node], to: node, points };
}

function blocksOf(targets: readonly (readonly number[])[], isReferredTo: ReadonlySet<number>): readonly Block[] {
  const alike = new Map<string, number[]>();
  for (const [at, to] of targets.entries()) {
    const key = isReferredTo.has(at) ? `alone ${at}` : to.join(" ");
    const members = alike.get(key) ?? [];
    alike.set(key, members);
    members.push(at);
  }
  return [...alike.values()].flatMap((members): readonly Block[] => {
    if (members.length < FEWEST_ALIKE) return members.map((member) => ({ members: [member], columns: 1 }));
    // About as wide as high.
    const columns = Math.ceil(Math.sqrt((members.length * (NODE.height + GAP)) / (NODE.width + GAP)));
    return [{ members, columns }];
  });
}

function sizeOf({ members, columns }: Block): { readonly width: number; readonly height: number } {
  // The layout writes into what it is given.
  if (members.length === 1) return { ...NODE };
  const rows = Math.ceil(members.length / columns);
  return {
    width: columns * (NODE.width + GAP) - GAP + 2 * PADDING,
    height: rows * (NODE.height + GAP) - GAP + 2 * PADDING,
  };
}

function rounded({ x = 0, y = 0 }: { readonly x?: number; readonly y?: number }): DrawnPoint {
  return { x: Math.round(x), y: Math.round(y) };
}
