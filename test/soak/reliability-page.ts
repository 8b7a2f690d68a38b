import { mutations } from "../mutations/mutations.ts";
import { cases } from "./cases.ts";
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

This page describes the tests of Holdfast against crashes, full disks and faulty networks, and their results. Each
*sweep* injects one sort of failure, then compares Holdfast's reports with the audit log of the control plane. The columns
of the table count the injected failures and the errors found. A sweep tries a random sample of the possible points. The
run of ${date} (seed ${[...seeds].join(", ")}) had these results:

${table(
  ["sweep", "kill points", "faults", "random steps", "doubled", "lost", "wrongly reported"],
  [...names.map((name) => row(name, resultsOf(name, results))), row("all", results)],
)}

- *Doubled*: a write took effect more often than intended. On a control plane without leases two state folders can create
  a version twice; there, only unreported doubles are counted.
- *Lost*: a resource is missing after the next apply, or a one-time token was neither delivered nor reported as lost.
- *Wrongly reported*: a report, an exit code or a message contradicts the audit log, or the next apply does not correct
  everything.

The same code also runs in virtual time, where a million events take minutes: [Simulation](simulation.md) publishes its
seeds, its events by kind, what it has found, and which of its safeguards it misses when they are gone.

## The sweeps

Brackets name the system that the sweep ran on. *full* is a control plane with all operations of \`holdfast serve\`. *documented-only* is a control plane with the 20
documented operations. *header-stripping* is a control plane behind a proxy that removes unknown headers.

${names.map((name) => `- **${name}** (${placesOf(resultsOf(name, results))}): ${sweeps[name]}`).join("\n")}

The kinds of fault are:

${Object.keys(faultKinds)
  .map((kind) => `- ${kind}`)
  .join("\n")}

## Numbered cases

The title of a test begins with the numbers of the cases that it is about: bad input (B), faults (F) and attacks (S).

${table(["case", "what happens"], Object.entries(cases))}

## Defects found

Each defect below was corrected. A test whose title begins with the case number reproduces it.

${table(
  ["case", "defect"],
  Object.entries(defects).map(([name, sentence]) => [name, sentence]),
)}

## Do the tests detect a missing safeguard?

\`npm run mutations\` removes one safeguard after the other from a copy of the sources. At least one test fails for each removed safeguard:

${table(
  ["removed safeguard", "failing test"],
  mutations.map(({ name, killedBy }) => [name, `\`${killedBy.file}\`: ${killedBy.title} …`]),
)}

## Running it again

\`npm run soak\` runs the sweeps in about twenty minutes. \`SEED=…\` repeats a run, and \`SOAK=all\` tries every point. A short
form of each sweep is part of \`npm test\`.
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
