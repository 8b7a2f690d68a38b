import type { RenderReport } from "../contract/generated/output.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer, leafPointers, pointerTokens } from "../contract/json-pointer.ts";
import { hasErrors, sortDiagnostics } from "../core/diagnostic.ts";
import { redactPointer, writtenValueAt } from "../core/diff/pointer.ts";
import { exitCodes } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { requireKind } from "../core/kind.ts";
import type { Manifest } from "../core/manifest.ts";
import { redactManifest } from "../core/redact/redact-manifest.ts";
import { selectNamed } from "../core/selection/select.ts";
import { load } from "../engine/load.ts";
import { kindsByType } from "../kinds/index.ts";
import { locateFields, readManifests } from "../manifests/read-manifests.ts";
import type { SourceManifest } from "../manifests/source-manifest.ts";
import { MASK } from "../model/credential.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { inFieldOrder } from "../schema/field-order.ts";
import { annotatedYaml } from "../yaml/write-yaml.ts";
import type { InvocationOf } from "./command.ts";
import type { render } from "./declarations/render.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { say, type Terminal, writeResult } from "./terminal.ts";

/** Prints the manifests of a target as they are applied. */
export async function run(invocation: InvocationOf<typeof render>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  const only = args.length === 0 ? {} : { only: args };
  const selecting = { ...invocation, args: [], flags: { ...flags, ...only } };
  await using target = await findTarget(selecting, { reading: true, isCommitOptional: true });
  const { desired, event, rules } = await load(target, terminal);
  const named = selectNamed(desired.manifests, rules.selection);
  const rendered: Rendered[] = [];
  for (const manifest of await readManifests(named, { clock: terminal.clock, signal: terminal.stopping })) {
    rendered.push(await renderedOf(manifest, terminal));
  }
  if (view.output === "json") await writeResult(terminal, jsonText(reportOf(rendered, event.selected)));
  else {
    terminal.stderr.write(diagnosticsText(event.selected, view.diagnosticView));
    await writeResult(terminal, rendered.map(textOf).join("---\n"));
    const masked = rendered.flatMap(({ hidden }) => hidden).length;
    if (masked > 0)
      say(terminal, `warning: possible secrets are masked (${masked}), so this output is not what would be applied`);
  }
  return hasErrors(event.selected) ? exitCodes.invalid : 0;
}

type Rendered = {
  readonly manifest: SourceManifest;
  /** In canonical order, with masked secrets. */
  readonly shown: JsonObject;
  readonly places: RenderReport["manifests"][number]["places"];
  /** The pointers of what is masked. */
  readonly hidden: readonly string[];
};

async function renderedOf(manifest: SourceManifest & Manifest, { stopping: signal }: Terminal): Promise<Rendered> {
  const { kind, value } = manifest;
  const ordered = inFieldOrder(String(value.type), value);
  const redacted = redactManifest(requireKind(kindsByType, kind).shape, value);
  const fields = leafPointers(ordered).map((pointer) => ({ manifest, pointer }));
  const located = await locateFields(fields, { signal });
  const hidden: string[] = [];
  const shown = shownOf(ordered, redacted, "", hidden);
  return {
    manifest,
    shown: isObject(shown) ? shown : {},
    places: located.map(({ pointer, position: { file, line, column } }) => ({ path: pointer, file, line, column })),
    hidden,
  };
}

function textOf({ shown, places }: Rendered): string {
  const placeAt = new Map(places.map(({ path, file, line }) => [path, `${file}:${line}`]));
  return annotatedYaml(shown, (pointer) => placeAt.get(pointer) ?? null);
}

function reportOf(rendered: readonly Rendered[], diagnostics: RenderReport["diagnostics"]): RenderReport {
  return {
    format_version: FORMAT_VERSION,
    manifests: rendered.map(({ manifest: { identity, kind, file, line }, shown, places }) => {
      const shownPlaces = places.map((place) => ({ ...place, path: redactPointer(place.path) }));
      return { identity, kind, file, line, manifest: shown, places: shownPlaces };
    }),
    diagnostics: sortDiagnostics(diagnostics),
  };
}

// The order is that of the manifest; redaction sorts the fields, and may hide the name of one.
function shownOf(value: Json, redacted: Json, pointer: string, hidden: string[]): Json {
  if (Array.isArray(value)) {
    return value.map((item: Json, at) => shownOf(item, childOf(redacted, String(at)), `${pointer}/${at}`, hidden));
  }
  if (isObject(value) && isObject(redacted)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        shownOf(field, childOf(redacted, name), `${pointer}/${escapePointer(name)}`, hidden),
      ]),
    );
  }
  if (redacted !== value) hidden.push(pointer);
  return redacted;
}

function childOf(redacted: Json, name: string): Json {
  return writtenValueAt(redacted, pointerTokens(`/${escapePointer(name)}`)) ?? MASK;
}
