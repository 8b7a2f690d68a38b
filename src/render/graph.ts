import type { GraphReport } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { sentenceText } from "./wrap.ts";

type View = { readonly width: number };

/** The graph as text: each resource with what it refers to, in the order in which they are applied. */
export function graphText({ nodes, edges }: GraphReport, { width }: View): string {
  const absent = new Set(nodes.filter(({ declared }) => !declared).map(({ identity }) => identity));
  const targets = Map.groupBy(edges, ({ from }) => from);
  const lines = nodes
    .filter(({ declared }) => declared)
    .flatMap(({ identity }) => [
      printable(identity),
      ...(targets.get(identity) ?? []).map(
        ({ to }) => `  → ${printable(to)}${absent.has(to) ? " (not declared here)" : ""}`,
      ),
    ]);
  const resources = count(nodes.length - absent.size, "resource");
  const rest = absent.size === 0 ? "" : `, ${count(absent.size, "resource")} not declared here`;
  return [...lines, sentenceText(`Graph: ${resources}, ${count(edges.length, "reference")}${rest}`, width)].join("\n");
}

/** The graph as a flowchart of Mermaid, which GitHub and GitLab show in Markdown. */
export function graphMermaid({ nodes, edges }: GraphReport): string {
  const idOf = idsOf(nodes);
  return [
    "flowchart LR",
    ...nodes.map(
      ({ identity, declared }) => `  ${idOf(identity)}["${mermaidLabel(identity)}"]${declared ? "" : ":::absent"}`,
    ),
    ...edges.map(({ from, to }) => `  ${idOf(from)} --> ${idOf(to)}`),
    "  classDef absent stroke-dasharray: 4",
    "",
  ].join("\n");
}

/** The graph in the language of Graphviz. */
export function graphDot({ nodes, edges }: GraphReport): string {
  const idOf = idsOf(nodes);
  return [
    "digraph manifests {",
    "  rankdir=LR;",
    "  node [shape=box];",
    ...nodes.map(
      ({ identity, declared }) =>
        `  ${idOf(identity)} [label="${dotLabel(identity)}"${declared ? "" : " style=dashed"}];`,
    ),
    ...edges.map(({ from, to }) => `  ${idOf(from)} -> ${idOf(to)};`),
    "}",
    "",
  ].join("\n");
}

// Neither language takes every character of a name in an id.
function idsOf(nodes: GraphReport["nodes"]): (identity: string) => string {
  const ids = new Map(nodes.map(({ identity }, nth) => [identity, `n${nth}`]));
  return (identity) => ids.get(identity) ?? "";
}

// A character reference of Mermaid begins with `#`. In labels it reads Markdown and HTML.
function mermaidLabel(text: string): string {
  return printable(text).replaceAll(/[^\w/:@. -]/gu, (character) => `#${character.codePointAt(0)};`);
}

function dotLabel(text: string): string {
  return printable(text).replaceAll(/["\\]/g, "\\$&");
}
