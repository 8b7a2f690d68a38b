import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

type Row = { readonly [column: string]: unknown };

/** Everything that a run leaves for later runs: the rows of the ledger, and the other files by their content. */
export type WholeState = { readonly rows: readonly Row[]; readonly files: { readonly [file: string]: string } };

// Any run that reads learns these of the control plane; they decide how it is asked, never whether it is written to.
const OBSERVED = ["routes", "dryRun", "honoursKeys"];

// Left out: the database that is read as rows, what every run makes and no decision reads (the key, the
// folder that keeps an earlier release from storing holds), and caches, whose
// answers other tests compare.
const OTHERWISE = /^(?:ledger\.db|lock\.db|key$|holds\.json\/|cache\/)/;

/** Reads the state folder of a source. */
export function wholeStateIn(folder: string): WholeState {
  const state = join(folder, ".holdfast");
  const files = globSync("**/*", { cwd: state }).filter((file) => statSync(join(state, file)).isFile());
  const kept = files.filter((file) => !OTHERWISE.test(file)).toSorted();
  return {
    rows: rowsIn(join(state, "ledger.db")),
    files: Object.fromEntries(kept.map((file) => [file, readFileSync(join(state, file), "hex")])),
  };
}

function rowsIn(path: string): readonly Row[] {
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = [
    "server",
    "receipt",
    "intent",
    "hold",
    "released",
    "pass",
    "status",
    "memory",
    "resource_event",
    "unsettled",
  ].flatMap((table) =>
    database
      .prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)
      .all()
      .map((row): Row => ({ table, ...row, ...(table === "server" ? { facts: agreedIn(String(row.facts)) } : {}) })),
  );
  return rows.filter(({ facts }) => facts !== "{}");
}

function agreedIn(facts: string): string {
  const known: Row = JSON.parse(facts);
  return JSON.stringify(Object.fromEntries(Object.entries(known).filter(([name]) => !OBSERVED.includes(name))));
}
