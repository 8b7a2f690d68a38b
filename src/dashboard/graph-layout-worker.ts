import { type GraphDrawing, type GraphToLayOut, layOut } from "./graph-layout.ts";

/** What the page asks of the worker, and what it answers. */
export type LayoutRequest = { readonly id: number; readonly graph: GraphToLayOut };
export type LayoutReply = { readonly id: number; readonly drawing: GraphDrawing };

// A graph of 500 nodes takes up to a second, in which the page would not move.
addEventListener("message", ({ data: { id, graph } }: MessageEvent<LayoutRequest>) => {
  postMessage({ id, drawing: layOut(graph) } satisfies LayoutReply);
});
