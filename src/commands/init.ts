import { chmodSync, existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { readGivenText } from "../files/read-given-file.ts";
import { makeFolders } from "../files/write-file.ts";
import { CONFIG_NAME, findRoot, realRoot } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { init } from "./declarations/init.ts";
import { reportingFailure } from "./import/write-files.ts";
import { type CiService, ciServices, pipelineFiles, pipelineNote } from "./init/pipeline-files.ts";
import { openQuestions, type Question, type Questions } from "./init/questions.ts";
import { type NewFile, type Starter, sourceFiles, starterManifests } from "./init/starter-files.ts";
import { outputPath } from "./output/output-path.ts";
import { writeSharedFile } from "./output/write-outputs.ts";
import { isInteractive, sentence, writeResult } from "./terminal.ts";

const FIRST_SERVICE = "hello";

type Choices = Starter & {
  readonly ci: CiService | null;
  /** Whether it begins with what is live, and not with manifests of its own. */
  readonly isFromLive: boolean;
};

/** Writes the files of a new source; never overwrites one. */
export async function run(invocation: InvocationOf<typeof init>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const folder = resolve(terminal.cwd, args[0] ?? ".");
  const isPipelineOnly = flags.ci !== undefined && existsSync(join(folder, CONFIG_NAME));
  if (!isPipelineOnly) requireNew(folder);
  const choices = isPipelineOnly ? choicesOf(flags) : await askedChoices(invocation);
  const files = [
    ...(isPipelineOnly ? [] : sourceFiles()),
    ...(isPipelineOnly || choices.isFromLive ? [] : starterManifests(choices)),
    ...(choices.ci === null ? [] : pipelineFiles(choices.ci)),
  ];
  makeFolder(folder);
  const lines = files.map((file) => `${writeNew(file, folder) ? "wrote" : "left "}  ${file.path}\n`);
  const next = isPipelineOnly || choices.isFromLive ? [] : [nextText(choices, relative(terminal.cwd, folder))];
  const note = choices.ci === null ? [] : [sentence(pipelineNote(choices.ci), terminal.stderr)];
  await writeResult(terminal, [...lines, ...note, ...next].join(""));
  if (isPipelineOnly || !choices.isFromLive) return 0;
  const into = join(relative(terminal.cwd, folder), "manifests");
  // The configuration names the folder, so it must be there before the source is read.
  makeFolder(resolve(terminal.cwd, into));
  const { run: importLive } = await import("./import.ts");
  return importLive({ ...invocation, args: [], flags: { ...flags, source: folder, into } });
}

function choicesOf({ workspace, service, ci, fromLive }: InvocationOf<typeof init>["flags"]): Choices {
  const name = service ?? FIRST_SERVICE;
  const fault = serviceFault(name);
  if (fault !== null) throw new HoldfastError("invalid", `--service ${name}: ${fault}`);
  return { workspace: workspace ?? null, service: name, ci: ci ?? null, isFromLive: fromLive ?? false };
}

// Whoever gives a flag, or is no person at a terminal, is not asked.
async function askedChoices({ flags, terminal }: InvocationOf<typeof init>): Promise<Choices> {
  const given = choicesOf(flags);
  if (!isInteractive(terminal) || flags.yes) return given;
  using questions = openQuestions(terminal);
  const { ask } = questions;
  const isFromLive =
    given.isFromLive || (flags.server !== undefined && (await ask(liveQuestion(flags.server))) === "yes");
  const manifests = isFromLive ? given : await askedManifests(flags, ask);
  const ci = flags.ci ?? (await ask(CI_QUESTION));
  return { ...manifests, isFromLive, ci: ciServices.find((one) => one === ci) ?? null };
}

async function askedManifests(
  { workspace, service }: InvocationOf<typeof init>["flags"],
  ask: Questions["ask"],
): Promise<Starter> {
  const named = workspace ?? (await ask(WORKSPACE_QUESTION));
  return { workspace: named === "" ? null : named, service: service ?? (await ask(SERVICE_QUESTION)) };
}

const liveQuestion = (server: string): Question => ({
  text: `Begin with what is live on ${server}: yes or no`,
  byDefault: "no",
  faultOf: (answer) => (/^(?:yes|no)$/.test(answer) ? null : "It must be yes or no."),
});

const WORKSPACE_QUESTION: Question = {
  text: "Workspace that exists, as cluster:workspace (empty: declare one)",
  byDefault: "",
  faultOf: workspaceFault,
};

const SERVICE_QUESTION: Question = { text: "First service", byDefault: FIRST_SERVICE, faultOf: serviceFault };

const CI_QUESTION: Question = {
  text: `Pipeline: none, ${ciServices.join(", ")}`,
  byDefault: "none",
  faultOf: (answer) => (["none", ...ciServices].includes(answer) ? null : "It must be one of these."),
};

function workspaceFault(answer: string): string | null {
  const isGood = answer === "" || /^[a-z][a-z0-9-]{2,34}:[a-z][a-z0-9-]{2,31}$/.test(answer);
  return isGood ? null : "It must be cluster:workspace, such as prod-eu:ranking.";
}

function serviceFault(answer: string): string | null {
  const isGood = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(answer);
  return isGood ? null : "It must be 1 to 63 letters, digits or '-', first a letter or digit.";
}

// A run that was killed has written the configuration first, so the same one may be completed.
function requireNew(folder: string): void {
  const own = join(folder, CONFIG_NAME);
  const found = lstatOrNull(own)?.isFile() ? readGivenText(own) : null;
  if (found !== null && sourceFiles().some(({ path, text }) => path === CONFIG_NAME && text === found)) return;
  const root = findRoot({ cwd: existingAt(folder) });
  if (!existsSync(join(root, CONFIG_NAME))) return;
  const isHere = existsSync(folder) && root === realRoot(folder);
  throw new HoldfastError(
    "invalid",
    isHere ? `${folder} is a source already: it has a ${CONFIG_NAME}` : `${folder} is in the source ${root}`,
    { hint: "nothing was written: add manifests to that source; init --ci adds the files of a pipeline" },
  );
}

function existingAt(folder: string): string {
  return existsSync(folder) ? folder : existingAt(dirname(folder));
}

function writeNew({ path, text, isExecutable = false }: NewFile, folder: string): boolean {
  const whole = outputPath(path, { cwd: folder, content: realRoot(folder) });
  if (lstatOrNull(whole) !== null) return false;
  makeFolder(dirname(whole));
  writeSharedFile(whole, text, {
    what: "starter file",
    hint: "make the folder writable, and run it again: it goes on",
  });
  if (isExecutable) chmodSync(whole, 0o755);
  return true;
}

function makeFolder(folder: string): void {
  reportingFailure(folder, () => makeFolders(folder));
}

// Only a platform has a workspace that was named.
function nextText({ workspace }: Starter, below: string): string {
  const enter = below === "" ? "" : `cd ${below} && `;
  return `Next: ${enter}holdfast ${workspace === null ? "apply --embedded" : "plan --server URL"}\n`;
}
