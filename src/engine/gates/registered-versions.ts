import type { Stop } from "../../clock/clock.ts";
import { equal, isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import type { RegisteredVersion } from "../../core/gates/judge-metric.ts";
import { type Kind, type LiveRow, readRow } from "../../core/kind.ts";
import { inPlaceFields } from "../../model/normal-form.ts";
import type { GateRegistry } from "./gate-access.ts";

/**
 * The registered versions with the content of a manifest, in whichever repository of the control plane they are: that a
 * version is promoted from one repository to another does not change what was measured of it.
 */
export async function registeredVersions(
  kind: Kind,
  manifest: JsonObject,
  { registry, signal }: Stop & { readonly registry: GateRegistry },
): Promise<readonly RegisteredVersion[]> {
  const found = await versionsNamed(kind, manifest, { registry, signal });
  return found.flatMap(({ row, reply, isSame }) => {
    if (!isSame) return [];
    const { created_at: createdAt, metrics } = fieldsOf(reply);
    const registeredAt = Date.parse(text(createdAt) ?? "");
    return [{ name: `${row.key}@${row.version ?? "?"}`, registeredAt, metrics }];
  });
}

/**
 * The number that the content of a manifest has in its repository: that of the newest version with this content, else the
 * one after the newest.
 */
export async function versionNumberOf(
  kind: Kind,
  manifest: JsonObject,
  reading: Stop & { readonly registry: Pick<GateRegistry, "reader"> },
): Promise<number> {
  const versions = await versionsNamed(kind, manifest, reading);
  const own = versions.filter(({ row }) => row.key === kind.key(manifest));
  const newest = (some: typeof own): number => Math.max(0, ...some.map(({ row }) => row.version ?? 0));
  return newest(own.filter(({ isSame }) => isSame)) || newest(own) + 1;
}

type NamedVersion = { readonly row: LiveRow; readonly reply: unknown; readonly isSame: boolean };

async function versionsNamed(
  kind: Kind,
  manifest: JsonObject,
  { registry: { reader }, signal }: Stop & { readonly registry: Pick<GateRegistry, "reader"> },
): Promise<readonly NamedVersion[]> {
  const { list } = kind;
  if (list === undefined) return [];
  const wanted = judgedContent(kind, manifest);
  const query = { ...list.query, ...list.narrow?.(kind.key(manifest)) };
  const replies = await reader.list(list.operation, { query }, { signal });
  return replies.flatMap((reply) => {
    const row = readRow(list, reply);
    return row === null ? [] : [{ row, reply, isSame: equal(judgedContent(kind, row.manifest), wanted) }];
  });
}

function fieldsOf(reply: unknown): { readonly [name: string]: Json | undefined } {
  return isObject(reply) ? reply : {};
}

// Where a version is, its number and what may change in place are not what was measured.
function judgedContent(kind: Kind, manifest: JsonObject): Json | undefined {
  const content = contentOf(kind, manifest);
  if (!isObject(content)) return content;
  return Object.fromEntries(Object.entries(content).filter(([name]) => !NOT_JUDGED.has(name)));
}

const NOT_JUDGED = new Set(["ml_repo", ...inPlaceFields]);
