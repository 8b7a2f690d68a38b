import type { FormatVersion } from "../contract/generated/output.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";

/** The result of `state check`. */
export type StateReport = {
  readonly format_version: FormatVersion;
  readonly state: string;
  readonly ledgers: readonly {
    /** Null when there are no targets. */
    readonly target: string | null;
    readonly schema: "current" | "older" | null;
    readonly servers: readonly { readonly server: string; readonly resources: number; readonly pending: number }[];
    readonly problem: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
  }[];
  readonly diagnostics: readonly Diagnostic[];
};

/** The result of `state check`, as text. */
export function stateText({ state, ledgers }: StateReport): string {
  const lines = ledgers.flatMap(({ target, schema, servers, problem }) => [
    ...(target === null ? [] : [`target ${printable(target)}`]),
    ...servers.map(
      ({ server, resources, pending }) =>
        `  ${printable(server)}: ${count(resources, "resource")}, ${count(pending, "write")} with unknown outcome`,
    ),
    ...(schema === "older" ? ["  made by an older release: the next apply upgrades it, after a backup beside it"] : []),
    ...(problem === null ? [] : [`  error: ${printable(problem.message)}`]),
    ...(problem?.hint ? [`  → ${printable(problem.hint)}`] : []),
  ]);
  const faulty = ledgers.filter(({ problem }) => problem !== null).length;
  const verdict = faulty === 0 ? "sound" : `${count(faulty, "ledger")} cannot be used`;
  return [`State ${printable(state)}: ${verdict}`, ...lines].map((line) => `${line}\n`).join("");
}
