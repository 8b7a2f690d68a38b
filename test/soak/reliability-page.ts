import { mutations } from "../mutations/mutations.ts";
import { defects } from "./defects.ts";
import { faultKinds } from "./fault-kinds.ts";
import { type SweepName, type SweepResult, sweeps } from "./sweep.ts";

/** What the page says of one run: when it was, and the results of all of its sweeps. */
export type SoakRun = { readonly date: string; readonly results: readonly SweepResult[] };

/** The page `docs/reliability.md`; fails where a sweep has no result. */
export function reliabilityPage({ date, results }: SoakRun): string {
  const names = Object.keys(sweeps) as SweepName[];
  const seeds = new Set(results.flatMap(({ seed }) => (seed === null ? [] : [seed])));
  return `<!-- Written by \`npm run soak -- --publish\`: change the sweeps, not this page. -->

# Reliability

Sweeps kill, starve and mislead Holdfast, and compare what it reports with the audit log of the control plane. A sweep
draws some of its points, as many as the table says. These results are of ${date} (seed ${[...seeds].join(", ")}):

${table(
  ["sweep", "kill points", "faults", "random steps", "doubled", "lost", "wrongly reported"],
  [...names.map((name) => row(name, resultsOf(name, results))), row("all", results)],
)}

- *Doubled*: a write took effect more often than it was wanted. On a control plane without leases two state folders
  can make a version twice; there, what counts is a double that nobody reported.
- *Lost*: a resource is missing after the next apply, or a one-time token was neither delivered nor reported as lost.
- *Wrongly reported*: a report, an exit code or a message says something else than what the audit log holds, or the next
  apply does not put everything right.

## The sweeps

${names.map((name) => `- **${name}** (${placesOf(resultsOf(name, results))}): ${sweeps[name]}`).join("\n")}

The kinds of fault are:

${Object.keys(faultKinds)
  .map((kind) => `- ${kind}`)
  .join("\n")}

## Defects found

Each has a test whose title begins with its case.

${table(
  ["case", "defect"],
  Object.entries(defects).map(([name, sentence]) => [name, sentence]),
)}

## Whether the tests would notice

\`npm run mutations\` takes one safeguard after the other out of a copy of the sources; a test fails for each:

${table(
  ["without", "fails"],
  mutations.map(({ name, killedBy }) => [name, `\`${killedBy.file}\`: ${killedBy.title} …`]),
)}

## Running it again

\`npm run soak\` runs the sweeps in about twenty minutes, \`SEED=…\` repeats one, and \`SOAK=all\` leaves no point out. A short
form of each is part of \`npm test\`.
`;
}

function resultsOf(name: SweepName, results: readonly SweepResult[]): readonly SweepResult[] {
  const found = results.filter(({ sweep }) => sweep === name);
  if (found.length === 0) throw new Error(`the sweep "${name}" has no result: it was not run, or cannot run here`);
  return found;
}

function row(name: string, results: readonly SweepResult[]): readonly string[] {
  const sum = (numberOf: (result: SweepResult) => number) =>
    String(results.reduce((total, result) => total + numberOf(result), 0));
  return [
    name,
    sum(({ killPoints }) => killPoints),
    sum(({ faults }) => faults),
    sum(({ randomSteps }) => randomSteps),
    sum(({ doubled }) => doubled.length),
    sum(({ lost }) => lost.length),
    sum(({ wronglyReported }) => wronglyReported.length),
  ];
}

function placesOf(results: readonly SweepResult[]): string {
  const places = new Set(results.map(({ on }) => on.replace(/,.*| from step.*/, "")));
  return [...places].join(", ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
