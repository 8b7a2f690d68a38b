/** What Stryker says of one mutant, as far as it is shown. */
export type MutantResult = {
  readonly fileName: string;
  readonly status: string;
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Position; readonly end: Position };
};

/** Both count from 1. */
type Position = { readonly line: number; readonly column: number };

/** The mutants of one folder by what became of them. */
export type FolderScore = {
  readonly folder: string;
  readonly killed: number;
  readonly timedOut: number;
  readonly survived: number;
  readonly notCovered: number;
  /** Static mutants, which need a run of all tests each, and those that could not be loaded. */
  readonly notTried: number;
};

export function countMutants(folder: string, results: readonly MutantResult[]): FolderScore {
  const count = (status: string) => results.filter((result) => result.status === status).length;
  const tried = {
    killed: count("Killed"),
    timedOut: count("Timeout"),
    survived: count("Survived"),
    notCovered: count("NoCoverage"),
  };
  return { folder, ...tried, notTried: results.length - sum(Object.values(tried)) };
}

/** How many of a hundred mutants the tests notice: 100 where there is none. */
export function percentOf({ killed, timedOut, survived, notCovered }: FolderScore): number {
  const all = killed + timedOut + survived + notCovered;
  return all === 0 ? 100 : (100 * (killed + timedOut)) / all;
}

/** Rounded down, so that what is shown as the goal has reached it. */
export const percentText = (percent: number): string => `${(Math.floor(percent * 10) / 10).toFixed(1)} %`;

const HEAD = "| folder | mutants | killed | timed out | survived | not covered | not tried | score | measured |";

/** A table with the rows of an earlier one, except those of folders that were measured again. */
export function scoreTable(earlier: string, scores: readonly FolderScore[], date: string): string {
  const rows = new Map(Array.from(earlier.matchAll(/^\| `(.+?)` \|.*$/gm), ([row, folder = ""]) => [folder, row]));
  for (const score of scores) rows.set(score.folder, rowOf(score, date));
  const sorted = [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [HEAD, HEAD.replaceAll(/ [a-z ]+ /g, " ---: ").replace("---:", "---"), ...sorted].join("\n");
}

function rowOf(score: FolderScore, date: string): string {
  const { folder, killed, timedOut, survived, notCovered, notTried } = score;
  const counts = [killed + timedOut + survived + notCovered, killed, timedOut, survived, notCovered, notTried];
  const cells = [`\`${folder}\``, ...counts.map((count) => count.toLocaleString("en"))];
  return `| ${[...cells, percentText(percentOf(score)), date].join(" | ")} |`;
}

/** The lines of an earlier list, except those about files of the folder, and one line for each mutant that no test notices. */
export function survivorList(
  earlier: string,
  folder: string,
  results: readonly MutantResult[],
  textOf: (file: string) => string,
): string {
  const kept = earlier.split("\n").filter((line) => line !== "" && folderOf(fileOf(line)) !== folder);
  const found = results
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .toSorted((a, b) => a.location.start.line - b.location.start.line)
    .map((result) => survivorLine(result, textOf(result.fileName)));
  const byFile = (a: string, b: string) => (fileOf(a) < fileOf(b) ? -1 : fileOf(a) > fileOf(b) ? 1 : 0);
  return [...kept, ...found]
    .toSorted(byFile)
    .map((line) => `${line}\n`)
    .join("");
}

const fileOf = (line: string): string => line.split(":")[0] ?? "";
const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/"));

function survivorLine({ fileName, status, mutatorName, location, replacement = "" }: MutantResult, text: string) {
  const lines = text.split("\n").slice(location.start.line - 1, location.end.line);
  const last = lines.length - 1;
  lines[last] = (lines[last] ?? "").slice(0, location.end.column - 1);
  lines[0] = (lines[0] ?? "").slice(location.start.column - 1);
  const what = `${shortened(lines.join(" "))} → ${shortened(replacement)}`;
  return `${fileName}:${location.start.line} ${mutatorName}${status === "NoCoverage" ? ", not covered" : ""}: ${what}`;
}

const shortened = (code: string): string => {
  const line = code.replaceAll(/\s+/g, " ");
  return line.length <= 70 ? line : `${line.slice(0, 69)}…`;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
