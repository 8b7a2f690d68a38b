import type { GraphReport } from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";
import { hasErrors, sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { requirementsOf, transitiveDependantsOf } from "../core/graph.ts";
import { type ManifestHead, splitIdentity } from "../core/manifest.ts";
import { type Selection, selectNamed } from "../core/selection/select.ts";
import type { Desired } from "../engine/load/desired.ts";
import { load } from "../engine/load.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { graphDot, graphMermaid, graphText } from "../render/graph.ts";
import { contentTop } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { graph } from "./declarations/graph.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { findTarget } from "./targets/find-targets.ts";

/** Shows the references between manifests. */
export async function run(invocation: InvocationOf<typeof graph>): Promise<number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: true, isCommitOptional: true });
  const write = openOutputs(invocation, contentTop(target.source.root));
  const { manifests, desired, event, rules } = await load(target, terminal);
  const shown = around(manifests, rules.selection).toSorted((a, b) => {
    return (
      (desired.waves.get(a.identity) ?? 0) - (desired.waves.get(b.identity) ?? 0) || compareText(a.identity, b.identity)
    );
  });
  const report: GraphReport = {
    format_version: FORMAT_VERSION,
    ...graphOf(shown, desired, manifests),
    diagnostics: sortDiagnostics(event.selected),
  };
  if (view.output !== "json") terminal.stderr.write(diagnosticsText(event.selected, view.diagnosticView));
  await write({
    render: (format) => {
      if (format === "json") return jsonText(report);
      if (format === "mermaid") return graphMermaid(report);
      return format === "dot" ? graphDot(report) : graphText(report, view);
    },
    job: () => ({ remarks: [], summary: "", outputs: [] }),
  });
  return hasErrors(event.selected) ? exitCodes.invalid : 0;
}

/** The selected manifests, what they refer to, and what depends on them. */
function around<One extends ManifestHead>(manifests: readonly One[], selection: Selection): readonly One[] {
  const named = selectNamed(manifests, selection).map(({ identity }) => identity);
  const all = new Set([...named, ...requirementsOf(manifests, named), ...transitiveDependantsOf(manifests, named)]);
  return manifests.filter(({ identity }) => all.has(identity));
}

/** The shown manifests and those that they refer to in vain, with the references between them. */
function graphOf(shown: readonly ManifestHead[], desired: Desired, all: readonly ManifestHead[]) {
  const known = new Set(all.map(({ identity }) => identity));
  const isShown = new Set(shown.map(({ identity }) => identity));
  const edges = shown.flatMap(({ identity, references }) => {
    const targets = [...new Set(references.map((reference) => reference.identity))];
    const seen = targets.filter((to) => isShown.has(to) || !known.has(to));
    return seen.toSorted(compareText).map((to) => ({ from: identity, to }));
  });
  const absent = [...new Set(edges.map(({ to }) => to).filter((to) => !known.has(to)))].toSorted(compareText);
  const nowhere = { declared: false, file: null, line: null, wave: null };
  const nodes = [
    ...shown.map(({ identity, kind, file, line }) => {
      return { identity, kind, declared: true, file, line, wave: desired.waves.get(identity) ?? 0 };
    }),
    ...absent.map((identity) => ({ identity, kind: splitIdentity(identity).kind, ...nowhere })),
  ];
  return { nodes, edges };
}
