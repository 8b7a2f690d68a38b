import { resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { isUnder } from "../core/select.ts";
import type { OperatorConfig } from "../source/config.ts";
import { parseRemoteAddress } from "../source/remote/address.ts";
import type { RemoteOptions } from "../source/remote/remote.ts";
import type { Terminal } from "./terminal.ts";

type SourceEntry = NonNullable<OperatorConfig["sources"]>[number];
type TargetEntry = NonNullable<OperatorConfig["targets"]>[number];

/** A source of the operator's configuration. */
export type SourceChoice = Omit<RemoteOptions, "folder"> & {
  readonly paths: readonly string[] | null;
  readonly webhookSecretFile: string | null;
};

/** A target of the operator's configuration. */
export type TargetChoice = {
  readonly name: string;
  /** Null for the local folder. */
  readonly source: SourceChoice | null;
  readonly paths: readonly string[] | null;
  readonly server: string | null;
  readonly tokenFile: string | null;
  readonly caFile: string | null;
  readonly sync: "report" | "heal" | "off";
  /** Seconds between passes; null for the default. */
  readonly interval: number | null;
  /** Seconds between looks at everything; null for every pass of the interval. */
  readonly driftInterval: number | null;
  readonly confirm: boolean;
};

/** The targets of a configuration; none where it names neither targets nor a source. */
export function chooseTargets(
  { sources, targets }: Pick<OperatorConfig, "sources" | "targets">,
  { cwd, env }: Pick<Terminal, "cwd" | "env">,
): readonly TargetChoice[] {
  const known = (sources ?? []).map((entry) => sourceChoice(entry, cwd, env));
  requireDistinct("source", known);
  const chosen = entriesOf(known, targets ?? []).map((entry) => targetChoice(entry, known, cwd));
  requireDistinct("target", chosen);
  return chosen;
}

// One source alone needs no target of its own.
function entriesOf(sources: readonly SourceChoice[], targets: readonly TargetEntry[]): readonly TargetEntry[] {
  const [only, other] = sources;
  if (targets.length > 0 || only === undefined) return targets;
  if (other === undefined) return [{ name: only.name }];
  throw refused("there are several sources and no targets", "give each source a target");
}

function sourceChoice(entry: SourceEntry, cwd: string, env: Terminal["env"]): SourceChoice {
  const { name, url, ref = null, paths = null, credentials, caFile, knownHosts, webhookSecretFile } = entry;
  const file = fileIn(cwd);
  const address = parseRemoteAddress(url);
  if (address.protocol === "ssh" && !knownHosts) {
    throw refused(`source ${name} is fetched over ssh without knownHosts`, "name a file with the keys of its host");
  }
  return {
    name,
    address,
    ref,
    paths,
    credentials: {
      username: credentials?.username ?? null,
      tokenFile: file(credentials?.tokenFile),
      sshKeyFile: file(credentials?.sshKeyFile),
      tokenText: env[`HOLDFAST_SOURCE_TOKEN_${name.toUpperCase().replaceAll("-", "_")}`] || null,
    },
    caFile: file(caFile),
    knownHosts: file(knownHosts),
    webhookSecretFile: file(webhookSecretFile),
    env,
  };
}

function targetChoice(entry: TargetEntry, sources: readonly SourceChoice[], cwd: string): TargetChoice {
  const { name, paths, server, tokenFile, caFile, sync, interval, driftInterval, confirm } = entry;
  const file = fileIn(cwd);
  const source = sourceOf(entry, sources);
  requireWithin(name, paths ?? [], source?.paths ?? null);
  return {
    name,
    source,
    paths: paths ?? source?.paths ?? null,
    server: server ?? null,
    tokenFile: file(tokenFile),
    caFile: file(caFile),
    sync: sync ?? "heal",
    interval: interval ?? null,
    driftInterval: driftInterval ?? null,
    confirm: confirm ?? false,
  };
}

function sourceOf({ name, source }: TargetEntry, sources: readonly SourceChoice[]): SourceChoice | null {
  const [only, other] = sources;
  if (!source) {
    if (other === undefined) return only ?? null;
    throw refused(`target ${name} names none of the sources`, "name one of them with `source`");
  }
  const found = sources.find((each) => each.name === source);
  if (found !== undefined) return found;
  throw refused(`target ${name} follows source ${source}, which there is not`, "correct it, or add that source");
}

function requireWithin(name: string, paths: readonly string[], allowed: readonly string[] | null): void {
  const outside = paths.find((path) => allowed !== null && !allowed.some((each) => isUnder(each, path)));
  if (outside === undefined) return;
  throw refused(`the path ${outside} of target ${name} lies outside the paths of its source`, "correct one of them");
}

function requireDistinct(what: string, entries: readonly { readonly name: string }[]): void {
  const names = entries.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refused(`there are two ${what}s called ${twice}`, "rename one of them");
}

function fileIn(cwd: string): (file: string | null | undefined) => string | null {
  return (file) => (file ? resolve(cwd, file) : null);
}

function refused(why: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `the configuration is refused: ${why}`, { hint });
}
