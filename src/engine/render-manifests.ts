import type { RenderReport } from "../contract/generated/output.ts";
import { isObject, type Json } from "../contract/json.ts";
import { escapePointer, leafPointers } from "../contract/json-pointer.ts";
import { redactPointer } from "../core/diff/pointer.ts";
import { requireKind } from "../core/kind.ts";
import type { Manifest } from "../core/manifest.ts";
import { redactManifest } from "../core/redact/redact-manifest.ts";
import { kindsByType } from "../kinds/index.ts";
import { locateFields, readManifests } from "../manifests/read-manifests.ts";
import type { SourceManifest } from "../manifests/source-manifest.ts";
import { redactName } from "../model/connection-secret.ts";
import { MASK } from "../model/credential.ts";
import { inFieldOrder } from "../schema/field-order.ts";
import type { Stoppable } from "./run.ts";

/** Manifests as they are applied, and how many of their values are masked as possible secrets. */
export type Rendered = { readonly manifests: RenderReport["manifests"]; readonly masked: number };

/** Renders manifests in canonical order, each value with the place where it stands. */
export async function renderManifests(
  manifests: readonly SourceManifest[],
  { clock, stopping: signal }: Stoppable,
): Promise<Rendered> {
  const masked: string[] = [];
  const rendered: RenderReport["manifests"][number][] = [];
  for (const manifest of await readManifests(manifests, { clock, signal })) {
    const { identity, kind, file, line } = manifest;
    const { value, hidden } = shownOf(manifest);
    masked.push(...hidden);
    const places = await placesOf(manifest, { signal });
    rendered.push({ identity, kind, file, line, manifest: isObject(value) ? value : {}, places });
  }
  return { manifests: rendered, masked: masked.length };
}

type Places = RenderReport["manifests"][number]["places"];

async function placesOf(manifest: SourceManifest & Manifest, stop: { readonly signal: AbortSignal }): Promise<Places> {
  const ordered = inFieldOrder(String(manifest.value.type), manifest.value);
  const fields = leafPointers(ordered).map((pointer) => ({ manifest, pointer }));
  const located = await locateFields(fields, stop);
  return located.map(({ pointer, position: { file, line, column } }) => ({
    path: redactPointer(pointer),
    file,
    line,
    column,
  }));
}

type Shown = { readonly value: Json; readonly hidden: readonly string[] };

// In canonical order, with masked secrets, and the pointers of what is masked.
function shownOf({ kind, value }: Manifest): Shown {
  const hidden: string[] = [];
  const ordered = inFieldOrder(String(value.type), value);
  const redacted = redactManifest(requireKind(kindsByType, kind).shape, value);
  return { value: maskedAs(ordered, redacted, "", hidden), hidden };
}

// The order is that of the manifest: redaction sorts the fields.
function maskedAs(value: Json, redacted: Json, pointer: string, hidden: string[]): Json {
  if (Array.isArray(value)) {
    const items: readonly Json[] = Array.isArray(redacted) ? redacted : [];
    return value.map((item: Json, at) => maskedAs(item, items[at] ?? MASK, `${pointer}/${at}`, hidden));
  }
  if (isObject(value) && isObject(redacted)) {
    const fields = Object.entries(value).map(([name, field]) => {
      const shown = redactName(name);
      return [shown, maskedAs(field, redacted[shown] ?? MASK, `${pointer}/${escapePointer(shown)}`, hidden)];
    });
    return Object.fromEntries(fields);
  }
  if (redacted !== value) hidden.push(pointer);
  return redacted;
}
