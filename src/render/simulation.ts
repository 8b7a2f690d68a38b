import type { Simulation } from "../core/report/simulation.ts";
import { joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import { codeSpan } from "./markdown/code-markup.ts";

/** Maximum resources shown per list, the rest being counted; the smaller limits are used when the text is too long. */
const SHOWN_STEPS = [50, 15, 5] as const;

/** The verdict of a simulation: `1 to create, 2 to update`. */
export function simulationVerdict({ change }: Simulation): string {
  const { created, updated, refused } = change;
  const counts = joinCounts([
    [created.length, "to create"],
    [updated.length, "to update"],
    [refused.length, "refused"],
  ]);
  return counts === "" ? "no changes" : counts;
}

type List = { readonly title: string; readonly items: readonly (readonly [subject: string, note: string])[] };

const leftovers = {
  resource: "was created, and nothing deletes it",
  update: "stays as the change wrote it: the revert does not write it back",
  versions: "keeps the versions that the change and its revert created",
  token: "keeps the token that was issued",
} as const;

/** What a simulation found, in lists; not escaped. */
export function simulationLists({ base, change, revert, stays, notComparable, unseen }: Simulation): readonly List[] {
  const bare = (all: readonly string[]) => all.map((one) => [one, ""] as const);
  const whys = (all: Simulation["change"]["refused"]) => all.map(({ identity, why }) => [identity, why] as const);
  return [
    { title: "Refused", items: whys(change.refused) },
    { title: "Created", items: bare(change.created) },
    { title: "Updated", items: bare(change.updated) },
    { title: "Rolled out", items: bare(change.rollouts) },
    { title: "Not undone by a revert", items: stays.map(({ identity, what }) => [identity, leftovers[what]] as const) },
    { title: "Refused when it is reverted", items: whys(revert.refused) },
    { title: "Refused already without the change", items: whys(base.refused) },
    { title: "Not comparable: the snapshot holds no values of it", items: bare(notComparable) },
    { title: "Not in the snapshot", items: bare(unseen) },
  ].filter(({ items }) => items.length > 0);
}

/** A simulation as text. */
export function simulationText(simulation: Simulation): string {
  const lists = simulationLists(simulation).flatMap(({ title, items }) => [
    `${title}:`,
    ...items.map(([subject, note]) => `  ${printable(subject)}${note === "" ? "" : `: ${printable(note)}`}`),
    "",
  ]);
  const unknown = simulation.unknown.map((one) => `  ${one}`);
  return [
    "Simulation on a copy: no control plane was contacted",
    "",
    ...lists,
    "It cannot know:",
    ...unknown,
    "",
    `Simulation: ${simulationVerdict(simulation)}`,
    "",
  ].join("\n");
}

/** A simulation as Markdown, of about `most` characters at most. */
export function simulationMarkdown(simulation: Simulation, most: number): string {
  const texts = SHOWN_STEPS.map((shown) => markdownWith(simulation, shown));
  return texts.find((text) => text.length <= most) ?? texts.at(-1) ?? "";
}

function markdownWith(simulation: Simulation, most: number): string {
  const lists = simulationLists(simulation).map(({ title, items }) => {
    const shown = items
      .slice(0, most)
      .map(([subject, note]) => `- ${codeSpan(subject)}${note === "" ? "" : `: ${noteOf(note)}`}`);
    const more = items.length - shown.length;
    return [`**${title}: ${items.length}**`, "", ...shown, ...(more === 0 ? [] : [`- and ${more} more`])].join("\n");
  });
  const unknown = ["It cannot know:", "", ...simulation.unknown.map((one) => `- ${one}`)].join("\n");
  return `${[
    `### Holdfast simulation: ${simulationVerdict(simulation)}`,
    "Simulated on a copy of the control plane's names and versions; no control plane was contacted.",
    ...lists,
    unknown,
    "",
  ]
    .join("\n\n")
    .trimEnd()}\n`;
}

const ours: readonly string[] = Object.values(leftovers);

function noteOf(note: string): string {
  return ours.includes(note) ? note : codeSpan(note);
}
