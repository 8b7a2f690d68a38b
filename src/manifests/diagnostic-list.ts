import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";

/** How many diagnostics of each severity are kept: more than a user reads, few enough for memory. */
const MAX_PER_SEVERITY = 10_000;
const MAX_OTHER = 100_000;

/** Collects diagnostics in bounded memory. */
export type DiagnosticList = {
  readonly add: (diagnostic: SourceDiagnostic) => void;
  /** In file order, followed by the number of those that were dropped. */
  readonly all: () => readonly SourceDiagnostic[];
};

/** Refuses a declared identity; the diagnostic is null if the reason was already reported. */
export type Refuse = (identity: Identity, diagnostic: Diagnostic | null) => void;

/** Creates an empty list. */
export function diagnosticList(): DiagnosticList {
  const kept: { readonly [severity in Diagnostic["severity"]]: Diagnostic[] } = { error: [], warning: [] };
  const otherDocuments: SourceDiagnostic[] = [];
  const dropped = { error: 0, warning: 0 };
  return {
    add(diagnostic) {
      // Other documents have their own limit, so that they do not displace other diagnostics.
      if (diagnostic.otherDocuments !== undefined) {
        if (otherDocuments.length < MAX_OTHER) otherDocuments.push(diagnostic);
        return;
      }
      const list = kept[diagnostic.severity];
      if (list.length < MAX_PER_SEVERITY) list.push(diagnostic);
      else dropped[diagnostic.severity]++;
    },
    all() {
      const more = (["error", "warning"] as const).flatMap((severity) =>
        dropped[severity] === 0 ? [] : [notListed(severity, dropped[severity])],
      );
      return [...sortDiagnostics([...kept.error, ...kept.warning, ...otherDocuments]), ...more];
    },
  };
}

function notListed(severity: Diagnostic["severity"], count: number): Diagnostic {
  const summary = `${count} more ${severity}${count === 1 ? "" : "s"}, not listed`;
  return {
    severity,
    code: "more",
    summary,
    detail: "Fix the listed ones first, then run it again.",
    file: null,
    line: null,
    column: null,
  };
}
