import type { Danger } from "../../contract/generated/output.ts";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { secretReferences } from "../../contract/secret-references.ts";
import { secretsOf } from "../../model/references.ts";
import { privilegesBeyond, privilegesIn } from "./privilege-growth.ts";

/** A manifest before and after a write (`before` is undefined for a new resource), and as its file has it. */
type Sides = { readonly before: Json | undefined; readonly after: Json | undefined; readonly written: JsonObject };

/** The dangers of a write's content, whoever wrote the content that it replaces. */
export function contentDangers({ before, after, written }: Sides): readonly Danger[] {
  if (!isObject(after)) return [];
  const old = isObject(before) ? before : {};
  return [
    ...privilegeGrowth(old, after, written),
    ...(isObject(before) ? scalingToZero(before, after) : []),
    ...exposure(old, after, written),
    ...removedSecrets(old, after),
  ];
}

// The compared content has its lists in another order than the file.
function privilegeGrowth(before: JsonObject, after: JsonObject, written: JsonObject): readonly Danger[] {
  const grown = privilegesBeyond(before, after);
  if (grown.length === 0) return [];
  const paths = new Map(privilegesIn(written).map(({ privilege, path }) => [canonical(privilege), path]));
  return grown.map(({ privilege, text }) => ({
    risk: "privilege-growth",
    path: paths.get(canonical(privilege)) ?? null,
    text,
  }));
}

function scalingToZero({ replicas: before }: JsonObject, { replicas: after }: JsonObject): readonly Danger[] {
  const [was, is] = [fewestReplicas(before), fewestReplicas(after)];
  return is === 0 && was !== 0 ? [{ risk: "scale-to-zero", path: "/replicas", text: `${was} → 0` }] : [];
}

// Without a number, the platform's default of one applies.
function fewestReplicas(replicas: Json | undefined): number {
  if (typeof replicas === "number") return replicas;
  return isObject(replicas) && typeof replicas.min_replicas === "number" ? replicas.min_replicas : 1;
}

// A port that stays exposed in the same way, with only its internal routing changed, is not newly exposed.
function exposure(before: JsonObject, after: JsonObject, written: JsonObject): readonly Danger[] {
  const known = new Map(exposedPorts(before).map(({ port, way }) => [port, way]));
  const asked = exposedPorts(after).filter(({ port, way }) => known.get(port) !== way);
  return asked.map(({ port, where }) => {
    const at = exposedPorts(written).find((one) => one.port === port)?.at;
    const text = `port ${port}${where === "" ? "" : ` at ${where}`}`;
    return { risk: "exposure", path: at === undefined ? "/ports" : `/ports/${at}`, text };
  });
}

type ExposedPort = { readonly at: number; readonly port: string; readonly where: string; readonly way: string };

function exposedPorts({ ports }: JsonObject): readonly ExposedPort[] {
  const all: readonly Json[] = Array.isArray(ports) ? ports : [];
  return all.flatMap((port, at) => {
    if (!isObject(port) || port.expose !== true) return [];
    const { port: number = null, protocol, host = null, path = null, auth = null } = port;
    const where = [host, path].map((part) => (typeof part === "string" ? part : "")).join("");
    return [{ at, port: `${number}/${protocol ?? "TCP"}`, where, way: canonical({ host, path, auth }) }];
  });
}

function removedSecrets(before: JsonObject, after: JsonObject): readonly Danger[] {
  const had = secretsIn(before);
  if (had.size === 0) return [];
  const has = secretsIn(after);
  return [...had]
    .filter(([secret]) => !has.has(secret))
    .map(([text, path]) => ({ risk: "secret-removed", path, text }));
}

// The control plane resolves no secret references in other texts, but removing the text removes the secret.
function secretsIn(manifest: JsonObject): ReadonlyMap<string, string> {
  const named = secretsOf(manifest).map(({ key, pointer }) => [key, pointer] as const);
  return new Map([...named, ...secretReferences(manifest).map(({ fqn, pointer }) => [fqn, pointer] as const)]);
}
