import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { CONFIG_NAME, findRoot, realRoot } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { init } from "./declarations/init.ts";
import { type CiService, ciServices, pipelineFiles, pipelineNote } from "./init/pipeline-files.ts";
import { openQuestions } from "./init/questions.ts";
import { type NewFile, type Starter, starterFiles } from "./init/starter-files.ts";
import { outputPath } from "./output/output-path.ts";
import { writeSharedFile } from "./output/write-outputs.ts";
import { isInteractive, sentence, writeResult } from "./terminal.ts";

type Choices = Starter & { readonly ci: CiService | null };

/** Writes the files of a new source; never overwrites one. */
export async function run(invocation: InvocationOf<typeof init>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const folder = resolve(terminal.cwd, args[0] ?? ".");
  const isPipelineOnly = flags.ci !== undefined && existsSync(join(folder, CONFIG_NAME));
  if (!isPipelineOnly) requireNew(folder);
  const choices = isPipelineOnly ? choicesOf(flags) : await askedChoices(invocation);
  const files = [
    ...(isPipelineOnly ? [] : starterFiles(choices)),
    ...(choices.ci === null ? [] : pipelineFiles(choices.ci)),
  ];
  mkdirSync(folder, { recursive: true });
  const lines = files.map((file) => `${writeNew(file, folder) ? "wrote" : "left "}  ${file.path}\n`);
  const next = isPipelineOnly ? [] : [nextText(choices, relative(terminal.cwd, folder))];
  const note = choices.ci === null ? [] : [sentence(pipelineNote(choices.ci), terminal.stderr)];
  await writeResult(terminal, [...lines, ...note, ...next].join(""));
  return 0;
}

function choicesOf({ workspace, service, ci }: InvocationOf<typeof init>["flags"]): Choices {
  const name = service ?? "hello";
  const fault = serviceFault(name);
  if (fault !== null) throw new HoldfastError("invalid", `--service ${name}: ${fault}`);
  return { workspace: workspace ?? null, service: name, ci: ci ?? null };
}

// Whoever gives a flag, or is no person at a terminal, is not asked.
async function askedChoices({ flags, terminal }: InvocationOf<typeof init>): Promise<Choices> {
  const given = choicesOf(flags);
  if (!isInteractive(terminal) || flags.yes) return given;
  using questions = openQuestions(terminal);
  const { ask } = questions;
  const workspace =
    flags.workspace ??
    (await ask({
      text: "Workspace that exists, as cluster:workspace (empty: declare one)",
      byDefault: "",
      faultOf: workspaceFault,
    }));
  const service =
    flags.service ?? (await ask({ text: "First service", byDefault: given.service, faultOf: serviceFault }));
  const ci =
    flags.ci ?? (await ask({ text: `Pipeline: none, ${ciServices.join(", ")}`, byDefault: "none", faultOf: ciFault }));
  return { workspace: workspace === "" ? null : workspace, service, ci: ciServices.find((one) => one === ci) ?? null };
}

function workspaceFault(answer: string): string | null {
  const isGood = answer === "" || /^[a-z][a-z0-9-]{2,34}:[a-z][a-z0-9-]{2,31}$/.test(answer);
  return isGood ? null : "It must be cluster:workspace, such as prod-eu:ranking.";
}

function serviceFault(answer: string): string | null {
  const isGood = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(answer);
  return isGood ? null : "It must be 1 to 63 letters, digits or '-', first a letter or digit.";
}

function ciFault(answer: string): string | null {
  return answer === "none" || ciServices.some((one) => one === answer) ? null : "It must be one of these.";
}

// A run that was killed has written the configuration first, so the same one may be completed.
function requireNew(folder: string): void {
  const own = join(folder, CONFIG_NAME);
  const found = lstatOrNull(own)?.isFile() ? readFileSync(own, "utf8") : null;
  if (found !== null && starterFiles(choicesOf({})).some(({ path, text }) => path === CONFIG_NAME && text === found))
    return;
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
  mkdirSync(dirname(whole), { recursive: true });
  writeSharedFile(whole, text, {
    what: "starter file",
    hint: "make the folder writable, and run it again: it goes on",
  });
  if (isExecutable) chmodSync(whole, 0o755);
  return true;
}

// Only a platform has a workspace that was named.
function nextText({ workspace }: Starter, below: string): string {
  const enter = below === "" ? "" : `cd ${below} && `;
  return `Next: ${enter}holdfast ${workspace === null ? "apply --embedded" : "plan --server URL"}\n`;
}
