// biome-ignore-all lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys too
// biome-ignore-all lint/a11y/noSvgWithoutTitle: the drawing is a part of the region that has its name, and each node in it has one
import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ResourceGraphNode, ResourceGraphReply } from "../contract/generated/output.ts";
import { address, go, pathOfResource, withFilters } from "./address.ts";
import { after } from "./browser-clock.ts";
import {
  forgetOutcomesBefore,
  isBusy,
  outcomes,
  type ResourceFacts,
  readListOf,
  refusalText,
  resourcesVersion,
} from "./daemon.ts";
import type { DrawnLine, DrawnPoint, GraphDrawing, GraphToLayOut } from "./graph-layout.ts";
import type { LayoutReply, LayoutRequest } from "./graph-layout-worker.ts";
import { Callout, Commit, type Tone, toneOf, visible } from "./parts.tsx";

/** The address of the script that lays graphs out, which the build names. */
declare const GRAPH_LAYOUT: string;

/** The filters of the graph that stand in the address, by their names in the interface. */
const filterNames = ["state", "kind", "search", "attention", "around", "depth"] as const;

/** A graph with the places of its nodes, which are sorted by name. */
type Drawn = {
  readonly key: string;
  readonly reply: ResourceGraphReply;
  readonly names: readonly string[];
  readonly drawing: GraphDrawing;
};

/** The resources of a target and what refers to what, laid out by a worker that is loaded when a graph is opened. */
export function ResourceGraph(props: { readonly target: string; readonly facts: Signal<ResourceFacts | null> }) {
  const { target, facts } = props;
  const query = useComputed(() => queryOf(address.value.filters));
  const reply = useSignal<ResourceGraphReply | null>(null);
  const fault = useSignal<string | null>(null);
  useReply({ target, query, facts, reply, fault });
  const drawn = useDrawn(reply, fault);
  const known = drawn.value;
  return (
    <>
      <Around target={target} />
      {fault.value !== null && (
        <Callout tone="warn" title="The graph cannot be shown now">
          <p>{visible(fault.value)}</p>
        </Callout>
      )}
      {known === null ? (
        fault.value === null && <p class="soft">Reading…</p>
      ) : (
        <>
          <Notes reply={known.reply} />
          {known.names.length > 0 && <Drawing target={target} drawn={known} query={query.value} />}
        </>
      )}
    </>
  );
}

function queryOf(filters: URLSearchParams): string {
  const query = new URLSearchParams();
  for (const name of filterNames) for (const value of filters.getAll(name)) query.append(name, value);
  return query.toString();
}

type ReplyParts = {
  readonly target: string;
  readonly query: Signal<string>;
  readonly facts: Signal<ResourceFacts | null>;
  readonly reply: Signal<ResourceGraphReply | null>;
  readonly fault: Signal<string | null>;
};

const AGAIN_MS = 3000;

/** Reads the graph, and reads it again when something has changed. */
function useReply({ target, query, facts, reply, fault }: ReplyParts): void {
  useSignalEffect(() => {
    const version = resourcesVersion.value;
    const path = `graph?${query.value}`;
    const ended = new AbortController();
    let cancel = (): void => undefined;
    const read = (): void =>
      void readListOf<ResourceGraphReply>(target, path, ended.signal).then(
        (found) => {
          forgetOutcomesBefore(version);
          facts.value = found;
          fault.value = null;
          reply.value = found;
        },
        (error: unknown) => {
          if (ended.signal.aborted) return;
          fault.value = refusalText(error);
          // The sources of other targets may be read just now.
          if (isBusy(error)) cancel = after(AGAIN_MS, read);
        },
      );
    read();
    return () => {
      cancel();
      ended.abort();
    };
  });
}

/** Lays the graph out; one with the same nodes and references as before stays where it is. */
function useDrawn(reply: Signal<ResourceGraphReply | null>, fault: Signal<string | null>): Signal<Drawn | null> {
  const drawn = useSignal<Drawn | null>(null);
  const worker = useRef<Worker | null>(null);
  const last = useRef(0);
  useEffect(() => () => worker.current?.terminate(), []);
  useSignalEffect(() => {
    const read = reply.value;
    if (read === null) return;
    last.current += 1;
    const id = last.current;
    const { names, graph } = numbered(read);
    const key = JSON.stringify([names, graph.edges]);
    const before = drawn.peek();
    if (before?.key === key) {
      drawn.value = { ...before, reply: read };
      return;
    }
    worker.current ??= new Worker(GRAPH_LAYOUT, { type: "module" });
    worker.current.onmessage = ({ data }: MessageEvent<LayoutReply>) => {
      if (data.id === id) drawn.value = { key, reply: read, names, drawing: data.drawing };
    };
    worker.current.onerror = () => {
      fault.value = "the browser cannot lay it out";
    };
    worker.current.postMessage({ id, graph } satisfies LayoutRequest);
  });
  return drawn;
}

function numbered({ nodes, edges }: ResourceGraphReply): {
  readonly names: readonly string[];
  readonly graph: GraphToLayOut;
} {
  // Whatever its order in the reply: what needs attention changes, and places stay.
  const names = nodes.map(({ identity }) => identity).toSorted();
  const numbers = new Map(names.map((name, at) => [name, at]));
  const between = edges.map(({ from, to }): readonly [number, number] => [
    numbers.get(from) ?? 0,
    numbers.get(to) ?? 0,
  ]);
  return { names, graph: { count: names.length, edges: between.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]) } };
}

const DEPTHS = ["1", "2", "3", "5", "10", "20"];

/** Around which resource the graph is, and how far it reaches. */
function Around({ target }: { readonly target: string }) {
  const { filters } = address.value;
  const around = filters.get("around");
  if (around === null || around === "") return null;
  const depth = filters.get("depth") ?? "2";
  return (
    <p class="around">
      Around{" "}
      <a class="name" href={pathOfResource(target, around)}>
        {visible(around)}
      </a>
      :{" "}
      <label>
        within{" "}
        <select
          value={depth}
          onChange={({ currentTarget }) => go(withFilters({ depth: currentTarget.value }))}
          aria-label="How many references away"
        >
          {[...new Set([...DEPTHS, depth])].map((one) => (
            <option key={one} value={one}>
              {visible(one)}
            </option>
          ))}
        </select>{" "}
        references
      </label>{" "}
      <a href={withFilters({ around: "", depth: "" })}>Graph of all resources</a>
    </p>
  );
}

/** What the graph does not show, and how to see it. */
function Notes({ reply }: { readonly reply: ResourceGraphReply }) {
  const { references, nodes, matching, leftOut, referencesLeftOut, total } = reply;
  const { filters } = address.value;
  const shown = matching - leftOut;
  return (
    <>
      {references.why !== null && (
        <Callout tone="warn" title="It is not known what refers to what">
          <p>No manifests could be read here, so the graph has no references: {visible(references.why)}</p>
        </Callout>
      )}
      <p class="soft" role="status">
        {nodes.length === 0 && (total === 0 ? "No resource is known yet." : "No resource matches.")}
        {nodes.length > 0 && `${shown.toLocaleString("en")} of ${matching.toLocaleString("en")} resources are shown`}
        {nodes.length > shown && `, and ${(nodes.length - shown).toLocaleString("en")} that they are connected with`}
        {nodes.length > 0 && "."}
        {leftOut > 0 &&
          ` ${leftOut.toLocaleString("en")} are left out, since those that need attention come first: ${narrowing(filters)}`}
        {referencesLeftOut > 0 && ` ${referencesLeftOut.toLocaleString("en")} references are not drawn.`}
      </p>
    </>
  );
}

function ReadFrom({ references: { manifests, commit } }: Pick<ResourceGraphReply, "references">) {
  return (
    <>
      , in the manifests {manifests === "now" ? "as they are now" : "that the last pass has read"}
      {commit !== null && (
        <>
          {" "}
          (<Commit id={commit} />)
        </>
      )}
    </>
  );
}

function narrowing(filters: URLSearchParams): string {
  const isAround = (filters.get("around") ?? "") !== "";
  return isAround
    ? "choose fewer references, or use the filters."
    : "use the filters, or open a resource and the graph around it.";
}

const LEAST = 0.2;
const MOST = 2;
const STEP = 1.25;
/** Smaller than this, nobody reads the names: then a part is shown in its full size. */
const READABLE = 0.6;

/** A graph that is moved as what scrolls is, and zoomed by buttons, by + and − and 0, and by the wheel with Ctrl. */
function Drawing(props: { readonly target: string; readonly drawn: Drawn; readonly query: string }) {
  const { target, drawn, query } = props;
  const { drawing, names, reply } = drawn;
  const box = useRef<HTMLElement>(null);
  const scale = useSignal(1);
  const chosen = useSignal<number | null>(null);
  const zoom = useZoom(box, scale);
  const whole = (): number => {
    const { current } = box;
    if (current === null) return 1;
    // That of its content: the border is a pixel on each side.
    const height = Number.parseFloat(getComputedStyle(current).maxHeight) - 2;
    return Math.min(1, current.clientWidth / drawing.width, height / drawing.height);
  };
  const byName = new Map(reply.nodes.map((node) => [node.identity, node]));
  useLayoutEffect(() => {
    const fit = whole();
    const first = address.peek().filters.get("around") ?? reply.nodes[0]?.identity ?? "";
    const { x, y } = drawing.nodes[names.indexOf(first)] ?? { x: 0, y: 0 };
    const { width, height } = drawing.size;
    zoom.show({ x: x + width / 2, y: y + height / 2 }, fit < READABLE ? 1 : fit);
  }, [query]);
  const order = drawing.nodes
    .map((place, at) => ({ place, at, node: byName.get(names[at] ?? "") }))
    .toSorted((a, b) => a.place.x - b.place.x || a.place.y - b.place.y);
  const refersTo = Map.groupBy(reply.edges, ({ from }) => from);
  return (
    <div class="graph-frame">
      <a class="skip" href="#after-graph">
        Skip the graph
      </a>
      <div class="graph-tools">
        <button type="button" onClick={() => zoom.to(scale.value / STEP)}>
          Zoom out
        </button>
        <button type="button" onClick={() => zoom.to(scale.value * STEP)}>
          Zoom in
        </button>
        <button type="button" onClick={() => zoom.to(whole())}>
          Whole graph
        </button>
        <span class="soft">
          What is referred to is on the left
          {reply.references.manifests !== null && <ReadFrom references={reply.references} />}.
        </span>
      </div>
      <section
        class="graph"
        ref={box}
        tabIndex={0}
        aria-label="Graph of resources: arrow keys move it, + and − zoom, 0 shows all of it"
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          const zoomed = { "+": scale.value * STEP, "=": scale.value * STEP, "-": scale.value / STEP, "0": whole() };
          const next = zoomed[event.key as keyof typeof zoomed];
          if (next !== undefined) zoom.to(next);
        }}
        {...usePan(box)}
      >
        <svg
          width={drawing.width * scale.value}
          height={drawing.height * scale.value}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        >
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
              <path d="M0 0L8 4L0 8z" />
            </marker>
          </defs>
          <g>
            {drawing.frames.map(({ x, y, width, height }) => (
              <rect key={`${x} ${y}`} class="frame" x={x} y={y} width={width} height={height} rx="8" />
            ))}
            <Edges lines={drawing.lines} chosen={chosen} />
          </g>
          {order.map(({ place, at, node }) => {
            if (node === undefined) return null;
            const targets = refersTo.get(node.identity)?.map(({ to }) => to) ?? [];
            const choose = (is: boolean): void => {
              chosen.value = is ? at : null;
            };
            return <Node key={node.identity} {...{ target, node, place, targets, choose, size: drawing.size }} />;
          })}
        </svg>
      </section>
      <span id="after-graph" tabIndex={-1} />
    </div>
  );
}

type Box = { readonly current: HTMLElement | null };

/** Zooms what a box shows, and keeps what is in its middle, or under the pointer, where it is. */
function useZoom(box: Box, scale: Signal<number>) {
  const due = useRef<(() => void) | null>(null);
  const to = (asked: number, at?: DrawnPoint): void => {
    const { current } = box;
    const next = Math.min(MOST, Math.max(LEAST, asked));
    if (current === null || next === scale.peek()) return;
    const { x, y } = at ?? { x: current.clientWidth / 2, y: current.clientHeight / 2 };
    const ratio = next / scale.peek();
    const [left, top] = [(current.scrollLeft + x) * ratio - x, (current.scrollTop + y) * ratio - y];
    due.current = () => current.scrollTo(left, top);
    scale.value = next;
  };
  // Once the drawing has its new size.
  useLayoutEffect(() => {
    due.current?.();
    due.current = null;
  });
  useEffect(() => {
    const { current } = box;
    const turned = (event: WheelEvent): void => {
      if (!event.ctrlKey || current === null) return;
      event.preventDefault();
      const { left, top } = current.getBoundingClientRect();
      to(scale.peek() * Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
    };
    current?.addEventListener("wheel", turned, { passive: false });
    return () => current?.removeEventListener("wheel", turned);
  }, []);
  const show = ({ x, y }: DrawnPoint, next: number): void => {
    const scroll = (): void => {
      const { clientWidth = 0, clientHeight = 0 } = box.current ?? {};
      box.current?.scrollTo(x * next - clientWidth / 2, y * next - clientHeight / 2);
    };
    if (next === scale.peek()) scroll();
    else due.current = scroll;
    scale.value = next;
  };
  return { to, show };
}

/** How far a pointer moves before it drags, and no longer opens a link. */
const DRAG = 4;

/** Moves what a box shows with the mouse; fingers scroll it. */
function usePan(box: Box) {
  const from = useRef<{ x: number; y: number; left: number; top: number; hasMoved: boolean } | null>(null);
  const wasDragged = useRef(false);
  return {
    onPointerDown: ({ pointerType, button, clientX, clientY }: PointerEvent) => {
      wasDragged.current = false;
      if (pointerType !== "mouse" || button !== 0 || box.current === null) return;
      const { scrollLeft: left, scrollTop: top } = box.current;
      from.current = { x: clientX, y: clientY, left, top, hasMoved: false };
    },
    onPointerMove: ({ clientX, clientY, pointerId }: PointerEvent) => {
      const { current: start } = from;
      if (start === null || box.current === null) return;
      const [x, y] = [clientX - start.x, clientY - start.y];
      if (!start.hasMoved && Math.hypot(x, y) < DRAG) return;
      if (!start.hasMoved) box.current.setPointerCapture(pointerId);
      start.hasMoved = true;
      wasDragged.current = true;
      box.current.scrollTo(start.left - x, start.top - y);
    },
    onPointerUp: () => {
      from.current = null;
    },
    onPointerCancel: () => {
      from.current = null;
    },
    onDragStart: (event: DragEvent) => event.preventDefault(),
    onClickCapture: (event: MouseEvent) => {
      if (wasDragged.current) event.preventDefault();
      wasDragged.current = false;
    },
  };
}

/** The references; those of the node that has the focus or the pointer stand out. */
function Edges({ lines, chosen }: { readonly lines: readonly DrawnLine[]; readonly chosen: Signal<number | null> }) {
  const at = chosen.value;
  return (
    <>
      {lines.map(({ from, to, points }) => {
        const isChosen = at !== null && (to === at || from.includes(at));
        return (
          <path
            key={`${from[0]} ${to}`}
            class={isChosen ? "edge chosen" : "edge"}
            d={pathThrough(points)}
            marker-end="url(#arrow)"
          />
        );
      })}
    </>
  );
}

// Each part begins and ends level, so that a line does not seem to come from above or below.
function pathThrough([first = { x: 0, y: 0 }, ...others]: readonly DrawnPoint[]): string {
  const parts = others.map(({ x, y }, at) => {
    const before = others[at - 1] ?? first;
    const middle = (before.x + x) / 2;
    return before.y === y ? `L${x} ${y}` : `C${middle} ${before.y} ${middle} ${y} ${x} ${y}`;
  });
  return `M${first.x} ${first.y}${parts.join("")}`;
}

/** The worst first. */
const TONES: readonly Tone[] = ["bad", "warn", "busy", "good", "quiet"];

const LONGEST_NAME = 28;
const MOST_NAMED = 5;

function Node(props: {
  readonly target: string;
  readonly node: ResourceGraphNode;
  readonly place: DrawnPoint;
  readonly size: GraphDrawing["size"];
  readonly targets: readonly string[];
  readonly choose: (is: boolean) => void;
}) {
  const { target, node, place, size, targets, choose } = props;
  const { identity, kind, isDeclared, isMatch, hidden } = node;
  const live = useComputed(() => outcomes.value.get(identity)).value;
  const rollout = live === undefined ? node.rollout : live.rollout;
  const state = live?.state ?? node.state ?? (isDeclared === false ? "not declared" : "not known");
  const words = [
    { word: state, text: state },
    ...(rollout === null ? [] : [{ word: rollout, text: `rollout ${rollout}` }]),
    ...(node.hasDrifted ? [{ word: "drifted", text: "drifted" }] : []),
  ];
  const tone = TONES.find((one) => words.some(({ word }) => toneOf(word) === one)) ?? "quiet";
  const text = words.map((one) => one.text);
  const isAbsent = node.state === null && isDeclared === false;
  const said = [
    `${visible(identity)}: ${text.join(", ")}`,
    ...(targets.length === 0 ? [] : [`refers to ${listed(targets)}`]),
    ...(hidden === 0 ? [] : [`${hidden.toLocaleString("en")} more references from it and to it are not shown`]),
    ...(isMatch ? [] : ["does not match the filters"]),
  ].join("; ");
  return (
    <a
      class={`node ${tone}${isAbsent ? " absent" : ""}${isMatch ? "" : " context"}`}
      href={pathOfResource(target, identity)}
      onFocus={({ currentTarget }) => {
        currentTarget.scrollIntoView({ block: "nearest", inline: "nearest" });
        choose(true);
      }}
      onBlur={() => choose(false)}
      onPointerEnter={() => choose(true)}
      onPointerLeave={() => choose(false)}
    >
      {/* The name of the link, and what the pointer shows. */}
      <title>{said}</title>
      {/* It clips what is too long. */}
      <svg x={place.x} y={place.y} width={size.width} height={size.height} aria-hidden="true">
        <rect class="back" x="1" y="1" width={size.width - 2} height={size.height - 2} rx="6" />
        <rect class="stripe" x="1" y="1" width="6" height={size.height - 2} rx="3" />
        <text class="label" x="14" y="19">
          {endOf(visible(identity))}
        </text>
        <text class="words" x="14" y="36">
          {text.join(" · ")}
          {kind !== "" && <tspan class="kind"> {visible(kind)}</tspan>}
        </text>
        {hidden > 0 && (
          <text class="hidden" x={size.width - 8} y="36">
            +{hidden.toLocaleString("en")}
          </text>
        )}
      </svg>
    </a>
  );
}

// The end of a name tells it from its neighbours.
function endOf(name: string): string {
  const characters = Array.from(name);
  return characters.length <= LONGEST_NAME ? name : `…${characters.slice(1 - LONGEST_NAME).join("")}`;
}

function listed(names: readonly string[]): string {
  const first = names.slice(0, MOST_NAMED).map(visible).join(", ");
  return names.length > MOST_NAMED ? `${first} and ${names.length - MOST_NAMED} more` : first;
}
