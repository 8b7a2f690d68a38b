import { describe, expect, it } from "vitest";
import type { GraphReport } from "../../../src/contract/generated/output.ts";
import { graphDot, graphMermaid, graphText } from "../../../src/render/graph.ts";

const node = (identity: string, declared = true) => {
  const place = declared ? { file: "a.yaml", line: 1, wave: 0 } : { file: null, line: null, wave: null };
  return { identity, kind: identity.split("/")[0] ?? "", declared, ...place };
};

const report: GraphReport = {
  format_version: "2.2",
  nodes: [node("workspace/dev:web"), node("service/dev:web/api"), node("team/ml", false)],
  edges: [
    { from: "service/dev:web/api", to: "workspace/dev:web" },
    { from: "workspace/dev:web", to: "team/ml" },
  ],
  diagnostics: [],
};
const hostile = { ...report, nodes: [node('team/a"];\\b#<b>`[x]`\u202e\n')], edges: [] };

describe("a graph", () => {
  it("names each resource with what it refers to as text", () => {
    expect(graphText(report, { width: 80 })).toBe(
      [
        ...["workspace/dev:web", "  → team/ml (not declared here)", "service/dev:web/api", "  → workspace/dev:web"],
        ...["Graph: 2 resources, 2 references, 1 resource not declared here", ""],
      ].join("\n"),
    );
  });

  it("is a flowchart in Mermaid", () => {
    expect(graphMermaid(report)).toBe(
      [
        ...["flowchart LR", '  n0["workspace/dev:web"]', '  n1["service/dev:web/api"]', '  n2["team/ml"]:::absent'],
        ...["  n1 --> n0", "  n0 --> n2", "  classDef absent stroke-dasharray: 4", ""],
      ].join("\n"),
    );
  });

  it("is a digraph in DOT", () => {
    expect(graphDot(report)).toBe(
      [
        ...["digraph manifests {", "  rankdir=LR;", "  node [shape=box];", '  n0 [label="workspace/dev:web"];'],
        ...[
          '  n1 [label="service/dev:web/api"];',
          '  n2 [label="team/ml" style=dashed];',
          "  n1 -> n0;",
          "  n0 -> n2;",
        ],
        ...["}", ""],
      ].join("\n"),
    );
  });

  it("escapes what a name could do to it", () => {
    const [, label = ""] = /\["(.*)"\]/.exec(graphMermaid(hostile)) ?? [];
    expect(label).toMatch(/^team\/a#34;#93;#59;#92;b#35;#60;b#62;#96;#91;x#93;#96;[\w#;]+$/);
    const dot = graphDot(hostile).split("\n");
    expect(dot[3]).toMatch(/^ {2}n0 \[label="team\/a\\"\];\\\\b#<b>`\[x\]`.*"\];$/);
    expect(dot).toHaveLength(6);
    expect(graphText(hostile, { width: 80 })).not.toContain("\u202e");
  });
});
