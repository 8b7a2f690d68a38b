import { expect, test } from "vitest";
import { type GraphDrawing, layOut } from "../../../src/dashboard/graph-layout.ts";

/** Whether no two nodes cover each other, and all are within the drawing. */
function isDrawable({ width, height, size, nodes }: GraphDrawing): boolean {
  const isWithin = nodes.every(({ x, y }) => x >= 0 && y >= 0 && x + size.width <= width && y + size.height <= height);
  return isWithin && nodes.every((a, at) => nodes.slice(at + 1).every((b) => areApart(a, b, size)));
}

function areApart(a: { x: number; y: number }, b: { x: number; y: number }, size: GraphDrawing["size"]): boolean {
  return Math.abs(a.x - b.x) >= size.width || Math.abs(a.y - b.y) >= size.height;
}

test("what is referred to stands on the left, and each reference has a line", () => {
  // A service in a workspace on a cluster, and a team that nothing refers to.
  const drawing = layOut({
    count: 4,
    edges: [
      [2, 1],
      [1, 0],
    ],
  });
  const [cluster, workspace, service] = drawing.nodes;
  expect([cluster?.x ?? 0, workspace?.x ?? 0, service?.x ?? 0]).toEqual(
    [cluster?.x ?? 0, workspace?.x ?? 0, service?.x ?? 0].toSorted((a, b) => a - b),
  );
  expect(cluster?.x).toBeLessThan(workspace?.x ?? 0);
  expect(drawing.lines.map(({ from, to }) => [from, to])).toEqual(
    expect.arrayContaining([
      [[2], 1],
      [[1], 0],
    ]),
  );
  expect([isDrawable(drawing), drawing.frames]).toEqual([true, []]);
});

test("many that refer to the same stand in one frame, from which one line goes", () => {
  const edges = Array.from({ length: 100 }, (_, nth) => [nth + 1, 0] as const);
  const drawing = layOut({ count: 101, edges });
  expect(drawing.frames).toHaveLength(1);
  expect(drawing.lines).toHaveLength(1);
  expect(drawing.lines[0]?.from).toHaveLength(100);
  expect([isDrawable(drawing), drawing.height < 2000, drawing.width < 2000]).toEqual([true, true, true]);
  // One beside it that refers to something else too stands at the same side of the column, from which its lines go.
  const beside = layOut({ count: 103, edges: [...edges, [101, 0], [101, 102]] });
  expect(beside.nodes[101]?.x).toBe(beside.frames[0]?.x);
});

test("lines stay within the drawing, and cross no node on their way", () => {
  // Versions that each refer to the one before and to one repository, many services on them, and accounts that name all of these.
  const versions = Array.from({ length: 6 }, (_, nth) => nth + 1);
  const services = Array.from({ length: 40 }, (_, nth) => nth + 7);
  const edges: (readonly [number, number])[] = [
    ...versions.map((one) => [one, 0] as const),
    ...versions.slice(1).map((one) => [one, one - 1] as const),
    ...services.map((one) => [one, (one % 6) + 1] as const),
    ...services.filter((one) => one % 7 === 0).map((one) => [one, 0] as const),
    ...[47, 48].flatMap((one) => [0, 3, 6, 9, 14, 21].map((to) => [one, to] as const)),
  ];
  const drawing = layOut({ count: 49, edges });
  expect([isDrawable(drawing), drawing.lines.length > 10]).toEqual([true, true]);
  const points = drawing.lines.flatMap((line) => line.points);
  expect(points.filter(({ x, y }) => x < 0 || y < 0 || x > drawing.width || y > drawing.height)).toEqual([]);
  const { width, height } = drawing.size;
  const crossed = drawing.lines.flatMap(({ points: [first, ...others] }) =>
    others.flatMap(({ x, y }, at) => {
      const before = others[at - 1] ?? first;
      if (before === undefined || before.y !== y) return [];
      const [left, right] = [Math.min(x, before.x), Math.max(x, before.x)];
      return drawing.nodes.filter((node) => {
        return y > node.y && y < node.y + height && left < node.x + width && right > node.x;
      });
    }),
  );
  expect(crossed).toEqual([]);
});

test("cycles, references to itself, nothing at all and 500 nodes are laid out", () => {
  const cyclic = layOut({
    count: 3,
    edges: [
      [0, 1],
      [1, 0],
      [2, 2],
    ],
  });
  expect([isDrawable(cyclic), cyclic.lines.length]).toEqual([true, 3]);
  expect(cyclic.lines.every(({ points }) => points.length > 1)).toBe(true);
  const reach = Math.max(...cyclic.lines.flatMap(({ points }) => points.map(({ x }) => x)));
  expect(reach).toBeLessThanOrEqual(cyclic.width);
  expect(layOut({ count: 0, edges: [] })).toMatchObject({ nodes: [], lines: [] });
  const edges = Array.from({ length: 490 }, (_, at) => [
    [at + 10, at % 10] as const,
    [at + 10, (at * 7919) % (at + 10)] as const,
  ]).flat();
  expect(isDrawable(layOut({ count: 500, edges }))).toBe(true);
});
