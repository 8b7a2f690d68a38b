import { InvalidArgumentError } from "commander";
import { sinks } from "../engine/sinks/index.ts";
import {
  choiceFlag,
  choicesFlag,
  type Flag,
  numberFlag,
  outputFlag,
  textFlag,
  textsFlag,
  toggleFlag,
  type ValueOf,
} from "./flag.ts";

/** A whole number of at least `least`, and at most `most` where that is given. */
function whole(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const to = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`);
    return value;
  };
}

/** A number of seconds above zero (or from zero), fractions allowed. */
function seconds({ zero = false } = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const isGood = /^\d+(?:\.\d+)?$/.test(text) && (value > 0 || zero) && value <= 2_000_000;
    if (!isGood) throw new InvalidArgumentError(`It must be a number of seconds, such as 30 or 0.5, without a unit.`);
    return value;
  };
}

function artifactUri(text: string): string {
  if (/^(?:s3:\/\/[a-z0-9]|file:\/\/\/)/.test(text)) return text;
  throw new InvalidArgumentError("It must be file:///folder or s3://bucket/prefix.");
}

// An empty value is most likely an unset variable, and the wrong data would be used.
function given(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must not be empty: leave it out for SQLite.");
}

// It goes into a header, and into a path, where dots would be steps.
function scope(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text) && !/^\.{1,2}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be 1 to 256 printable characters without spaces, such as c1:ws1.");
}

function branchName(text: string): string {
  if (/^(?![-/.])(?!.*(?:\.\.|@\{|\/\/|\.lock$))[\w./@+#=-]{1,250}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the name of a branch, such as main.");
}

function commitDigest(text: string): string {
  if (/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the whole digest of a commit, in lower case.");
}

function workspaceFqn(text: string): string {
  if (/^[a-z][a-z0-9-]{2,34}:[a-z][a-z0-9-]{2,31}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be cluster:workspace, such as prod-eu:ranking.");
}

function hostAndPort(text: string): string {
  const [, port = ""] = /^(?:\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(text) ?? [];
  if (port !== "" && Number(port) <= 65_535) return text;
  throw new InvalidArgumentError("It must be an address and a port, such as 127.0.0.1:7072 or [::1]:7072.");
}

/** Every flag, by the name that commands pick it with; `HOLDFAST_<FLAG>` is its environment variable. */
export const flags = {
  source: textFlag("--source <dir>", "the source folder; by default the one that holds holdfast.yaml"),
  config: textFlag(
    "--config <file>",
    "the operator's configuration, read beside holdfast.yaml at the top of the source",
  ),
  target: textFlag(
    "--target <name>",
    "the target of the operator's configuration; without it all of them, where nothing is written",
  ),
  reason: textFlag("--reason <text>", "why"),
  until: textFlag("--until <time>", "until when: an ISO time, or a time from now such as 4h or 2d"),
  confirm: textFlag("--confirm <name>", "the name of a target that asks for it"),
  ref: textFlag("--ref <branch>", "apply a checkout only at this branch, with nothing uncommitted or unfinished", {
    parse: branchName,
  }),
  only: textsFlag("--only <id...>", "only these identities, with what they refer to"),
  kind: textsFlag("--kind <kind...>", "only these kinds, with what they refer to"),
  exclude: textsFlag("--exclude <glob...>", "leave out the identities that match"),
  workspace: textFlag("--workspace <fqn>", "the workspace of applications that name none", { parse: workspaceFqn }),
  strict: toggleFlag("--strict", "warnings are errors"),
  partial: toggleFlag("--partial", "go on with the valid manifests when others are invalid"),
  server: textFlag("--server <url>", "the control plane"),
  embedded: toggleFlag("--embedded", "the embedded control plane, with its data under the state folder"),
  tokenFile: textFlag("--token-file <file>", "file with the bearer token (or HOLDFAST_TOKEN)"),
  caFile: textFlag("--ca-file <file>", "certificates to trust besides the system's, PEM"),
  state: textFlag("--state <dir>", "ledger, journal and tokens (default: .holdfast in the source)"),
  concurrency: numberFlag("--concurrency <n>", "requests in flight", { parse: whole(1) }),
  timeout: numberFlag("--timeout <s>", "seconds for the whole command", { parse: seconds() }),
  requestTimeout: numberFlag("--request-timeout <s>", "seconds for one request", { parse: seconds() }),
  connectTimeout: numberFlag("--connect-timeout <s>", "seconds for the first contact", { parse: seconds() }),
  retryWait: numberFlag("--retry-wait <s>", "seconds that a control plane may ask to wait", {
    parse: seconds({ zero: true }),
  }),
  output: outputFlag(["text", "json"]),
  planOutput: outputFlag(["text", "json", "markdown", "github", "gitlab"]),
  driftOutput: outputFlag(["text", "json", "markdown", "github"]),
  validateOutput: outputFlag(["text", "json", "sarif", "github"]),
  show: choicesFlag("--show <what...>", "show these too", { of: ["unchanged", "unmanaged", "server"] }),
  base: textFlag("--base <ref>", "commit to compare with, such as the pull request's base"),
  applied: textFlag(
    "--applied <ref>",
    "ref or commit that was applied last, where nothing is recorded (default: refs/holdfast/TARGET)",
  ),
  gate: choiceFlag("--gate <changes>", "exit 2 when there are changes: those of this change alone, or all", {
    of: ["change", "all"],
  }),
  out: textFlag("--out <file>", "write the plan, for apply --plan, or the snapshot to a file"),
  plan: textFlag("--plan <file>", "apply exactly this plan, or nothing when it is stale"),
  detailedExitcode: toggleFlag("--detailed-exitcode", "exit 2 when there are changes"),
  noDetailedExitcode: toggleFlag("--no-detailed-exitcode", "exit 0 although there is drift"),
  yes: toggleFlag("-y, --yes", "do not ask"),
  wait: toggleFlag("--wait", "wait for rollouts (the default)"),
  noWait: toggleFlag("--no-wait", "do not wait for rollouts"),
  waitTimeout: numberFlag("--wait-timeout <s>", "seconds to wait for a rollout (default: 600)", { parse: seconds() }),
  noDryRun: toggleFlag("--no-dry-run", "do not ask the control plane whether it would take what is new"),
  failFast: toggleFlag("--fail-fast", "start nothing more after the first failure"),
  allowShrink: toggleFlag(
    "--allow-shrink",
    "act although the source, its configuration or live shows far less than before",
  ),
  as: choiceFlag("--as <outcome>", "what became of the write", { of: ["applied", "refused"] }),
  force: toggleFlag("--force", "also what has not failed"),
  all: toggleFlag("--all", "everything that is declared and live"),
  allowAdopt: toggleFlag("--allow-adopt", "overwrite what somebody else manages"),
  allowPrivilege: toggleFlag("--allow-privilege", "give somebody more rights"),
  sink: choiceFlag("--sink <sink>", "where one-time tokens go", { of: sinks.map(({ name }) => name) }),
  leaseScope: textFlag(
    "--lease-scope <scope>",
    "what no other writer shares (default: the source's one workspace, or everything)",
    { parse: scope },
  ),
  leaseSeconds: numberFlag(
    "--lease-seconds <n>",
    "seconds that the lease of a daemon lasts at most without renewal, so that another one takes over",
    { parse: whole(3, 900), byDefault: 10 },
  ),
  interval: numberFlag("--interval <s>", "seconds between full passes", { parse: seconds() }),
  listen: textFlag("--listen <host:port>", "answer health, readiness and metrics there, such as on 127.0.0.1:7072", {
    parse: hostAndPort,
  }),
  exportKeyFile: textFlag(
    "--export-key-file <file>",
    "file with the key that seals an exported state (or HOLDFAST_EXPORT_KEY)",
  ),
  noFold: toggleFlag("--no-fold", "show equal changes of several resources one by one"),
  noColor: toggleFlag("--no-color", "no colours"),
  logLevel: choiceFlag("--log-level <level>", "how much is logged", {
    of: ["error", "warn", "info", "debug", "trace"],
  }),
  logFormat: choiceFlag("--log-format <format>", "how it is logged", { of: ["json", "pretty"] }),
  forge: choiceFlag("--forge <forge>", "where the pull request is (default: the one whose job this is)", {
    of: ["github", "gitlab"],
  }),
  repository: textFlag("--repository <path>", "the repository on the forge, such as ml/platform (default: the job's)"),
  pullRequest: numberFlag("--pull-request <n>", "number of the pull request or merge request (default: the job's)", {
    parse: whole(1),
  }),
  revision: textFlag("--revision <commit>", "head of the pull request (default: the job's)", { parse: commitDigest }),
  apiUrl: textFlag("--api-url <url>", "API of the forge, such as https://git.example.com/api/v3 (default: the job's)"),
  forgeTokenFile: textFlag("--forge-token-file <file>", "file with the forge's token (or HOLDFAST_FORGE_TOKEN)"),
  name: textFlag("--name <name>", "what the comment is found by (default: the target's name)"),
  unverified: toggleFlag("--unverified", "say that a job without secrets made the plan"),
  noStatus: toggleFlag("--no-status", "write no commit status"),
  requireComment: toggleFlag("--require-comment", "fail when the comment or its status cannot be written"),
  host: textFlag("--host <host>", "address to listen on", { byDefault: "127.0.0.1" }),
  port: numberFlag("--port <port>", "port to listen on; 0 picks a free one", {
    parse: whole(0, 65_535),
    byDefault: 7071,
  }),
  data: textFlag("--data <dir>", "data folder (default: control-plane in the state folder)"),
  database: textFlag(
    "--database <url>",
    "PostgreSQL for the data, postgres://user@host/name (default: SQLite in --data)",
    {
      parse: given,
    },
  ),
  seed: textFlag("--seed <folder>", "create what the manifests of a folder declare and is absent"),
  snapshot: textFlag(
    "--snapshot <file>",
    "what holdfast snapshot wrote; serve takes the URL of a live control plane too, and copies by reads alone",
  ),
  public: toggleFlag("--public", "leave out what the manifests here neither declare nor refer to"),
  names: textFlag("--names <folder>", "manifests whose names a snapshot looks up where there is no list"),
  artifactRoot: textFlag("--artifact-root <uri>", "where staged versions go, file:///folder or s3://bucket/prefix", {
    parse: artifactUri,
  }),
  documentedOnly: toggleFlag("--documented-only", "serve the 20 documented operations and the secret read alone"),
  unknownFields: choiceFlag("--unknown-fields <mode>", "fields that the schemas do not know", {
    of: ["refuse", "allow"],
  }),
  tlsCert: textFlag("--tls-cert <file>", "certificate with its chain to speak TLS with, PEM"),
  tlsKey: textFlag("--tls-key <file>", "private key of that certificate, PEM"),
  rateLimit: numberFlag("--rate-limit <n>", "requests a second that one caller may make; 0 for any number", {
    parse: whole(0),
    byDefault: 0,
  }),
  maxLeaseSeconds: numberFlag("--max-lease-seconds <n>", "seconds that a lease may be taken for at most", {
    parse: whole(1, 86_400),
    byDefault: 900,
  }),
  drainSeconds: numberFlag("--drain-seconds <n>", "seconds to go on answering, not ready, when asked to end", {
    parse: seconds({ zero: true }),
    byDefault: 0,
  }),
  renewSigningKey: toggleFlag("--renew-signing-key", "sign new tokens of virtual accounts with a new key"),
  revoke: textsFlag("--revoke <subject...>", "make the tokens of these void, such as virtualaccount:ci"),
  rolloutSeconds: numberFlag("--rollout-seconds <n>", "length of a simulated rollout, or of a job's run", {
    parse: seconds({ zero: true }),
    byDefault: 2,
  }),
} as const satisfies { readonly [name: string]: Flag<unknown> };

/** Name of a flag. */
export type FlagName = keyof typeof flags;

/** The name under which a flag's value is read: `--no-wait` sets `wait` to false, and every `--output` sets `output`. */
type Attribute<Name extends FlagName> = Name extends `${string}Output`
  ? "output"
  : Name extends `no${infer Rest}`
    ? Rest extends Capitalize<Rest>
      ? Uncapitalize<Rest>
      : Name
    : Name;

/** Values of some flags, as commander and the environment give them; undefined where not given. */
export type Flags<Names extends FlagName = FlagName> = {
  readonly [Name in Names as Attribute<Name>]?: ValueOf<(typeof flags)[Name]>;
};

/** Flags that every command has. */
export const generalFlags = [
  "source",
  "config",
  "state",
  "timeout",
  "noColor",
  "logLevel",
  "logFormat",
] as const satisfies readonly FlagName[];

/** Name of a flag that every command has. */
export type GeneralFlag = (typeof generalFlags)[number];

/** Flags of every command that reads manifests. */
export const sourceFlags = [
  "target",
  "only",
  "kind",
  "exclude",
  "workspace",
  "strict",
  "partial",
] as const satisfies readonly FlagName[];

/** Flags of every command that talks to a control plane. */
export const serverFlags = [
  "server",
  "embedded",
  "tokenFile",
  "caFile",
  "concurrency",
  "requestTimeout",
  "connectTimeout",
  "retryWait",
] as const satisfies readonly FlagName[];
