import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { RenderReport } from "../contract/generated/output.ts";
import { hasErrors, sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { manifestPaths } from "../core/import/manifest-paths.ts";
import { selectNamed } from "../core/selection/select.ts";
import { load } from "../engine/load.ts";
import { renderManifests } from "../engine/render-manifests.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { realPathOutside } from "../files/real-path.ts";
import { kindsByType } from "../kinds/index.ts";
import { count } from "../render/count-text.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { contentTop } from "../source/source-root.ts";
import { annotatedYaml } from "../yaml/write-yaml.ts";
import type { InvocationOf } from "./command.ts";
import type { render } from "./declarations/render.ts";
import { writeFiles } from "./import/write-files.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { findTarget } from "./targets/find-targets.ts";
import { say } from "./terminal.ts";

/** Prints the manifests of a target as they are applied, or writes them to files. */
export async function run(invocation: InvocationOf<typeof render>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  const only = args.length === 0 ? {} : { only: args };
  const selecting = { ...invocation, args: [], flags: { ...flags, ...only } };
  await using target = await findTarget(selecting, { reading: true, isCommitOptional: true });
  const content = contentTop(target.source.root);
  const folder = flags.into === undefined ? null : emptyFolder(flags.into, { content, cwd: terminal.cwd });
  const write = openOutputs(invocation, content);
  const { desired, event, rules } = await load(target, terminal);
  const { manifests, masked } = await renderManifests(selectNamed(desired.manifests, rules.selection), terminal);
  const isInvalid = hasErrors(event.selected);
  if (view.output !== "json") terminal.stderr.write(diagnosticsText(event.selected, view.diagnosticView));
  if (folder !== null && !isInvalid) writeFiles(folder, filesOf(manifests));
  const report = { format_version: FORMAT_VERSION, manifests, diagnostics: sortDiagnostics(event.selected) } as const;
  const written = isInvalid ? "nothing was written" : `${count(manifests.length, "manifest")} written to ${flags.into}`;
  await write({
    render: (format) => (format === "json" ? jsonText(report) : folder === null ? textOf(manifests) : `${written}\n`),
    job: () => ({ remarks: [], summary: "", outputs: [] }),
  });
  if (masked > 0)
    say(terminal, `warning: possible secrets are masked (${masked}), so this output is not what would be applied`);
  return isInvalid ? exitCodes.invalid : 0;
}

type Shown = RenderReport["manifests"][number];

function textOf(manifests: readonly Shown[]): string {
  return manifests.map(yamlOf).join("---\n");
}

// One file for each: a file of all of them may have more documents than a file is read with.
function filesOf(manifests: readonly Shown[]) {
  const paths = manifestPaths(
    manifests.map(({ identity }) => identity),
    kindsByType,
  );
  return manifests.map((one) => {
    const { identity, kind } = one;
    return { identity, kind, path: paths.get(identity) ?? "", text: yamlOf(one) };
  });
}

function yamlOf({ manifest, places }: Shown): string {
  const placeAt = new Map(places.map(({ path, file, line }) => [path, `${file}:${line}`]));
  return annotatedYaml(manifest, (pointer) => placeAt.get(pointer) ?? null);
}

// What an earlier run has left there would be applied with what this one writes.
function emptyFolder(into: string, { content, cwd }: { readonly content: string; readonly cwd: string }): string {
  const folder = realPathOutside(content, resolve(cwd, into));
  const found = lstatOrNull(folder);
  if (found === null || (found.isDirectory() && readdirSync(folder).length === 0)) return folder;
  const what = found.isDirectory() ? "is not empty" : "is no folder";
  throw new HoldfastError("invalid", `${into} ${what}`, { hint: "name a new folder with --into, or empty this one" });
}
