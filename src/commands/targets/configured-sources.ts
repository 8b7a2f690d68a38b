import { resolve } from "node:path";
import type { KeyPlace, OperatorConfig } from "../../source/read-config.ts";
import { parseRemoteAddress } from "../../source/remote/address.ts";
import type { RemoteAccess, RemoteOptions } from "../../source/remote/remote.ts";
import type { Terminal } from "../terminal.ts";
import type { PlaceOf } from "./configured-places.ts";
import type { TargetEntry } from "./expand-pattern.ts";
import { refusedConfig } from "./refused-config.ts";

/** A source of the operator's configuration. */
export type SourceChoice = Omit<RemoteOptions, "clock" | "folder"> & {
  readonly paths: readonly string[] | null;
  readonly webhookSecretFile: string | null;
};

/** The sources of a configuration. */
export function sourceChoice(
  entry: NonNullable<OperatorConfig["sources"]>[number],
  { cwd, env }: Terminal,
): SourceChoice {
  const { name, url, ref = null, paths = null, credentials, caFile, knownHosts, webhookSecretFile } = entry;
  const file = configuredFile(cwd);
  const address = parseRemoteAddress(url);
  if (address.protocol === "ssh" && !knownHosts) {
    throw refusedConfig(
      `source ${name} is fetched over ssh without knownHosts`,
      "name a file with the keys of its host",
    );
  }
  return {
    name,
    address,
    ref,
    paths,
    credentials: credentialsOf(credentials, tokenIn(env, "SOURCE", name), cwd),
    caFile: file(caFile),
    knownHosts: file(knownHosts),
    webhookSecretFile: file(webhookSecretFile),
    env,
  };
}

/** The source that an entry follows; null for the local folder. */
export function sourceOf(
  { name, source }: TargetEntry,
  sources: readonly SourceChoice[],
  placeOf: PlaceOf,
): SourceChoice | null {
  const [only, other] = sources;
  if (!source) {
    if (other === undefined) return only ?? null;
    const why = `target ${name} names none of the sources`;
    throw refusedConfig(why, "name one of them with `source`", placeOf(name, "source"));
  }
  const found = sources.find((each) => each.name === source);
  if (found !== undefined) return found;
  const why = `target ${name} follows source ${source}, which does not exist`;
  throw refusedConfig(why, "correct it, or add that source", placeOf(name, "source"));
}

/** Where the ref of the last applied commit is pushed. */
export function publishOptions(
  { name, publishUrl, publishCredentials }: TargetEntry,
  { source, at }: { readonly source: SourceChoice | null; readonly at: (key: keyof TargetEntry) => KeyPlace | null },
  { cwd, env }: Terminal,
): RemoteAccess {
  // The fetch credentials of the source are never used here, because they need no write access.
  const address = publishUrl ? parseRemoteAddress(publishUrl) : source?.address;
  if (address === undefined) {
    const why = `target ${name} follows the local folder, and has publishRef without publishUrl`;
    throw refusedConfig(why, "add publishUrl", at("publishRef"));
  }
  if (publishUrl && source !== null) {
    const why = `target ${name} follows source ${source.name}, and has publishUrl too`;
    throw refusedConfig(why, "leave publishUrl out", at("publishUrl"));
  }
  if (address.protocol === "ssh" && source === null) {
    const why = `the publishUrl of target ${name} uses ssh`;
    throw refusedConfig(why, "use https, or let the target follow a source", at("publishUrl"));
  }
  const { caFile = null, knownHosts = null } = source ?? {};
  const credentials = credentialsOf(publishCredentials, tokenIn(env, "PUBLISH", name), cwd);
  return { name, address, credentials, caFile, knownHosts, env };
}

function credentialsOf(
  given: TargetEntry["publishCredentials"],
  tokenText: string | null,
  cwd: string,
): SourceChoice["credentials"] {
  const file = configuredFile(cwd);
  return {
    username: given?.username ?? null,
    tokenFile: file(given?.tokenFile),
    sshKeyFile: file(given?.sshKeyFile),
    tokenText,
  };
}

function tokenIn(env: Terminal["env"], use: "SOURCE" | "PUBLISH", name: string): string | null {
  return env[`HOLDFAST_${use}_TOKEN_${name.toUpperCase().replaceAll("-", "_")}`] || null;
}

/** The path of a file that a configuration names. */
export function configuredFile(cwd: string): (file: string | null | undefined) => string | null {
  return (file) => (file ? resolve(cwd, file) : null);
}
