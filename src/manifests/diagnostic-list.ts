import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import type { Identity } from "../core/manifest.ts";

/** How many diagnostics of each severity are kept; far more than anybody reads, few enough to hold. */
const MAX_PER_SEVERITY = 10_000;
const MAX_FOREIGN = 100_000;

/** Collects what there is to say, in bounded memory. */
export type DiagnosticList = {
  readonly add: (diagnostic: SourceDiagnostic) => void;
  /** In file order, with a last word on what was not kept. */
  readonly all: () => readonly SourceDiagnostic[];
};

/** Takes a declared identity out, saying why unless that has been said. */
export type Refuse = (identity: Identity, diagnostic: Diagnostic | null) => void;

/** A new, empty collection. */
export function diagnosticList(): DiagnosticList {
  const kept: { readonly [severity in Diagnostic["severity"]]: Diagnostic[] } = { error: [], warning: [] };
  const foreign: SourceDiagnostic[] = [];
  const dropped = { error: 0, warning: 0 };
  return {
    add(diagnostic) {
      // What is not ours is counted, and takes the place of nothing else.
      if (diagnostic.foreign !== undefined) {
        if (foreign.length < MAX_FOREIGN) foreign.push(diagnostic);
        return;
      }
      const list = kept[diagnostic.severity];
      if (list.length < MAX_PER_SEVERITY) list.push(diagnostic);
      else dropped[diagnostic.severity]++;
    },
    all() {
      const more = (["error", "warning"] as const).flatMap((severity) =>
        dropped[severity] === 0 ? [] : [rest(severity, dropped[severity])],
      );
      return [...sortDiagnostics([...kept.error, ...kept.warning, ...foreign]), ...more];
    },
  };
}

function rest(severity: Diagnostic["severity"], count: number): Diagnostic {
  const summary = `${count} more ${severity}s, not listed`;
  return {
    severity,
    code: "more",
    summary,
    detail: "Mend the first ones and look again.",
    file: null,
    line: null,
    column: null,
  };
}
