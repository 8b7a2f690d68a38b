// src/commands/flags: the flags, their variables and their checks. See docs/architecture.md#source-folders.

import { InvalidArgumentError } from "commander";
import { sinks } from "../../engine/sinks/index.ts";
import {
  choiceFlag,
  choicesFlag,
  type Flag,
  listFlag,
  numberFlag,
  outputFlag,
  textFlag,
  textsFlag,
  toggleFlag,
} from "./flag.ts";

/** Parses a whole number from `least` to `most`. */
function whole(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const to = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`);
    return value;
  };
}

/** Parses a number of seconds above zero, or from zero if `zero` is set; fractions are allowed. */
function seconds({ zero = false } = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const isGood = /^\d+(?:\.\d+)?$/.test(text) && (value > 0 || zero) && value <= 2_000_000;
    if (!isGood) throw new InvalidArgumentError(`It must be a number of seconds, such as 30 or 0.5, without a unit.`);
    return value;
  };
}

function artifactUri(text: string): string {
  if (/^(?:s3:\/\/[a-z0-9]|file:\/\/\/|https?:\/\/[^/?#@]+(?:\/[^?#]*)?$)/.test(text)) return text;
  throw new InvalidArgumentError("It must be file:///folder, s3://bucket/prefix or the address of this server.");
}

// An empty value usually comes from an unset variable, and the wrong database would be used.
function given(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must not be empty: leave it out for SQLite.");
}

function issuerUrl(text: string): string {
  const { protocol = "", search = "", hash = "", username = "" } = URL.parse(text) ?? {};
  if (/^https?:$/.test(protocol) && `${search}${hash}${username}` === "") return text;
  throw new InvalidArgumentError("It must be the address of the issuer, such as https://id.example.com/realms/main.");
}

// The scope is sent in a header and in a path, where `.` and `..` would be resolved as path segments.
function scope(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text) && !/^\.{1,2}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be 1 to 256 printable characters without spaces, such as c1:ws1.");
}

function programPath(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must be the path of a program, or its name in PATH.");
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

/** Every flag, by the name that commands refer to; `HOLDFAST_<FLAG>` is its environment variable. */
export const flags = {
  source: textFlag("--source <dir>", "source folder (default: the one with holdfast.yaml)"),
  config: textFlag(
    "--config <file>",
    "the operator's configuration; its values replace those of the source's holdfast.yaml",
  ),
  target: textFlag(
    "--target <name>",
    "name of a target in the operator's configuration (default: all targets, in commands that only read)",
  ),
  reason: textFlag("--reason <text>", "why it is held (required)"),
  until: textFlag(
    "--until <time>",
    "until when: an ISO time, a time from now such as 4h or 2d, or the next commit that changes the resource: commit",
  ),
  confirm: textFlag("--confirm <name>", "name of the target, for targets that require confirmation"),
  ref: textFlag(
    "--ref <branch>",
    "apply a checkout only at this branch, with nothing uncommitted and no rebase or merge in progress",
    {
      parse: branchName,
    },
  ),
  only: textsFlag("--only <id...>", "only these identities, with what they refer to"),
  kind: textsFlag("--kind <kind...>", "only these kinds, with what they refer to"),
  exclude: listFlag("--exclude <glob>", "leave out the identities that match"),
  fromLive: toggleFlag("--from-live", "begin with manifests of what is live"),
  service: textFlag("--service <name>", "name of the first service"),
  ci: choiceFlag(
    "--ci <service>",
    "the files of a pipeline too: for github, gitlab, or as a script for another service",
    {
      of: ["github", "gitlab", "shell"],
    },
  ),
  workspace: textFlag("--workspace <fqn>", "workspace of applications that name none (conform: the one to write to)", {
    parse: workspaceFqn,
  }),
  strict: toggleFlag("--strict", "treat warnings as errors"),
  partial: toggleFlag("--partial", "go on with the valid manifests when others are invalid"),
  server: textFlag("--server <url>", "address of the control plane"),
  embedded: toggleFlag("--embedded", "use the embedded control plane, with its data in the state folder"),
  tokenFile: textFlag("--token-file <file>", "file with the bearer token (or HOLDFAST_TOKEN)"),
  issuer: textFlag("--issuer <url>", "OpenID Connect issuer to sign in at (or login.issuer of the configuration)"),
  clientId: textFlag("--client-id <id>", "id of Holdfast at the issuer (or login.clientId of the configuration)"),
  audience: textFlag("--audience <name>", "audience that the control plane expects (default: the client id)"),
  scope: textFlag("--scope <scopes>", "scopes to ask the issuer for, with spaces between"),
  caFile: textFlag("--ca-file <file>", "certificates to trust besides the system's, PEM"),
  state: textFlag(
    "--state <place>",
    "ledger and journal: a folder, or postgres://user@host/name (default: .holdfast in the source)",
  ),
  concurrency: numberFlag("--concurrency <n>", "most requests in flight at once (default: 16)", { parse: whole(1) }),
  timeout: numberFlag("--timeout <s>", "time limit of the whole command, in seconds", { parse: seconds() }),
  requestTimeout: numberFlag("--request-timeout <s>", "time limit of one request, in seconds (default: 30)", {
    parse: seconds(),
  }),
  connectTimeout: numberFlag("--connect-timeout <s>", "time limit of the first connection, in seconds (default: 10)", {
    parse: seconds(),
  }),
  retryWait: numberFlag("--retry-wait <s>", "longest wait that a control plane may ask for, in seconds (default: 60)", {
    parse: seconds({ zero: true }),
  }),
  output: outputFlag(["text", "json"]),
  planOutput: outputFlag(["text", "json", "markdown", "github", "gitlab", "sarif"]),
  driftOutput: outputFlag(["text", "json", "markdown", "github"]),
  validateOutput: outputFlag(["text", "json", "sarif", "github"]),
  orphansOutput: outputFlag(["text", "json", "markdown"]),
  graphOutput: outputFlag(["text", "json", "mermaid", "dot"]),
  show: choicesFlag("--show <what...>", "show these as well", {
    of: ["unchanged", "unmanaged", "server", "preflight", "fingerprints"],
  }),
  base: textFlag("--base <ref>", "commit to compare with, such as the pull request's base"),
  applied: textFlag(
    "--applied <ref>",
    "ref or commit that was applied last, for resources without a record (default: refs/holdfast/TARGET)",
  ),
  writers: listFlag(
    "--writers <subject>",
    "subjects whose writes count as this repository's own, such as virtualaccount:ci-deployer",
  ),
  history: numberFlag("--history <n>", "commits to read for resources without a record (default: 1000)", {
    parse: whole(0),
  }),
  gate: choiceFlag("--gate <changes>", "exit 2 when there are changes: only those made by this change, or all", {
    of: ["change", "all"],
  }),
  into: textFlag("--into <path>", "the file or folder to write to"),
  out: textFlag("--out <file>", "file to write the plan (for apply --plan) or the snapshot to"),
  plan: textFlag("--plan <file>", "apply exactly this plan, or nothing if it is stale"),
  detailedExitcode: toggleFlag("--detailed-exitcode", "exit 2 when there are changes"),
  noDetailedExitcode: toggleFlag("--no-detailed-exitcode", "exit 0 even if there is drift"),
  key: textFlag(
    "--key <file>",
    "ssh key that signs, or the public key of one in ssh-agent (default: one that may approve the plan)",
  ),
  yes: toggleFlag("-y, --yes", "do not ask for confirmation"),
  changes: toggleFlag("--changes", "show what each write changed, field by field"),
  drifted: toggleFlag("--drifted", "show when live had drifted, by day and by resource"),
  wait: toggleFlag(
    "--wait",
    "wait: status for targets that are not Synced, other commands for rollouts (their default)",
  ),
  noWait: toggleFlag("--no-wait", "do not wait for rollouts"),
  waitTimeout: numberFlag("--wait-timeout <s>", "longest wait for rollouts and runs, in seconds (default: 600)", {
    parse: seconds(),
  }),
  dryRun: toggleFlag("--dry-run", "show what would be proposed, and write nothing; conform: send dry runs too"),
  propose: toggleFlag("--propose", "write what was changed in live into the manifests, as a pull request"),
  write: toggleFlag("--write", "make an application, prompts and models too, in --workspace and --ml-repo"),
  writeTenant: toggleFlag("--write-tenant", "make a secret group, a cluster, an account, a team and a token too"),
  mlRepo: textFlag("--ml-repo <name>", "ml repo to write prompts and models to"),
  application: textFlag("--application <id>", "id of an application to read, where none are listed"),
  noDryRun: toggleFlag("--no-dry-run", "do not ask the control plane whether it would accept the changes"),
  failFast: toggleFlag("--fail-fast", "start no further writes after the first failure"),
  allowShrink: toggleFlag(
    "--allow-shrink",
    "act even if the source, its configuration or live has far less than before",
  ),
  as: choiceFlag("--as <outcome>", "what became of the write", { of: ["applied", "refused"] }),
  force: toggleFlag("--force", "also deploy what has not failed (redeploy), or overwrite files (import)"),
  check: toggleFlag("--check", "write nothing; exit 2 when a file would change"),
  update: toggleFlag("--update", "change the manifests that exist to what is live"),
  full: toggleFlag("--full", "every field of the kind, not only those that it needs"),
  all: toggleFlag("--all", "everything that is declared and live"),
  allowAdopt: toggleFlag("--allow-adopt", "allow steps that overwrite what somebody else manages"),
  allowWindow: toggleFlag("--allow-window", "write although the target is frozen; the history records it"),
  allowPrivilege: toggleFlag("--allow-privilege", "allow steps that give somebody more rights"),
  allowPolicy: listFlag("--allow-policy <name>", "allow what this policy asks a person about"),
  allowOrder: toggleFlag("--allow-order", "apply a commit that the targets of `after` have not passed"),
  sink: choiceFlag("--sink <sink>", "where one-time tokens go", { of: sinks.map(({ name }) => name) }),
  noToken: toggleFlag("--no-token", "make no token: the user signs in through the issuer of the control plane"),
  leaseScope: textFlag(
    "--lease-scope <scope>",
    "what no other writer may write meanwhile (default: the source's only workspace, or everything)",
    { parse: scope },
  ),
  leaseSeconds: numberFlag(
    "--lease-seconds <n>",
    "seconds without a renewal after which another daemon may take over",
    { parse: whole(3, 900), byDefault: 10 },
  ),
  workers: numberFlag(
    "--workers <n>",
    "share the passes with other processes, and run at most so many at once; needs a state in PostgreSQL",
    {
      parse: whole(1, 100),
    },
  ),
  interval: numberFlag("--interval <s>", "seconds between comparisons with live (default: 60)", { parse: seconds() }),
  listen: textFlag(
    "--listen <host:port>",
    "serve health, metrics and the dashboard there, such as 127.0.0.1:7072 (dashboard: a free port of 127.0.0.1; mcp: HTTP in place of stdin and stdout)",
    {
      parse: hostAndPort,
    },
  ),
  mcpTokenFile: textFlag(
    "--mcp-token-file <file>",
    "file with the token that clients of mcp --listen send (or HOLDFAST_MCP_TOKEN)",
  ),
  plans: textFlag(
    "--plans <folder>",
    "folder that the tool propose writes its plans to; without it there is no such tool",
  ),
  exportKeyFile: textFlag(
    "--export-key-file <file>",
    "file with the key that encrypts an export (or HOLDFAST_EXPORT_KEY)",
  ),
  noFold: toggleFlag("--no-fold", "show the same change in several resources each time"),
  noColor: toggleFlag("--no-color", "print without colours"),
  logLevel: choiceFlag(
    "--log-level <level>",
    "least severe messages that are logged (default: warn; in the logs of serve and watch, info)",
    {
      of: ["error", "warn", "info", "debug", "trace"],
    },
  ),
  logFormat: choiceFlag("--log-format <format>", "format of the log", { of: ["json", "pretty"] }),
  forge: choiceFlag("--forge <forge>", "git host of the pull request (default: the job's)", {
    of: ["github", "gitlab"],
  }),
  repository: textFlag("--repository <path>", "the repository on the forge, such as ml/platform (default: the job's)"),
  pullRequest: numberFlag("--pull-request <n>", "number of the pull request or merge request (default: the job's)", {
    parse: whole(1),
  }),
  revision: textFlag("--revision <commit>", "head of the pull request (default: the job's)", { parse: commitDigest }),
  apiUrl: textFlag("--api-url <url>", "API of the forge, such as https://git.example.com/api/v3 (default: the job's)"),
  forgeTokenFile: textFlag("--forge-token-file <file>", "file with the forge's token (or HOLDFAST_FORGE_TOKEN)"),
  name: textFlag("--name <name>", "name by which the comment is found again (default: the target's)"),
  unverified: toggleFlag("--unverified", "mark the comment as made from the plan of a job without secrets"),
  noStatus: toggleFlag("--no-status", "write no commit status"),
  requireComment: toggleFlag(
    "--require-comment",
    "fail when the comment or its status cannot be written, or the plan cannot be sent",
  ),
  publish: textFlag(
    "--publish <url>",
    "dashboard that the plan is sent to as well, such as https://holdfast.example.com",
  ),
  plansTokenFile: textFlag("--plans-token-file <file>", "file with the token for --publish (or HOLDFAST_PLANS_TOKEN)"),
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
  seed: textFlag("--seed <folder>", "create what the manifests of a folder declare, if it does not exist yet"),
  snapshot: textFlag(
    "--snapshot <file>",
    "file that holdfast snapshot wrote; in serve also the URL of a live control plane, which is only read",
  ),
  public: toggleFlag("--public", "leave out what the manifests here neither declare nor refer to"),
  names: textFlag("--names <folder>", "folder of manifests that name what the control plane cannot list"),
  artifactRoot: textFlag(
    "--artifact-root <uri>",
    "where staged versions go, file:///folder or s3://bucket/prefix; or through this server, by the https:// address at which clients reach it",
    { parse: artifactUri },
  ),
  artifactFolder: textFlag(
    "--artifact-folder <folder>",
    "folder of the files that go through this server (default: artifacts in --data)",
  ),
  stageHours: numberFlag("--stage-hours <n>", "hours for which files of a staged version can be stored through it", {
    parse: whole(1, 8760),
    byDefault: 24,
  }),
  stageGigabytes: numberFlag("--stage-gigabytes <n>", "most gigabytes of the files of one staged version", {
    parse: whole(1, 1_000_000),
    byDefault: 100,
  }),
  documentedOnly: toggleFlag("--documented-only", "serve only the 20 documented operations and the secret read"),
  unknownFields: choiceFlag("--unknown-fields <mode>", "what to do with fields that the schemas do not know", {
    of: ["refuse", "allow"],
  }),
  tlsCert: textFlag("--tls-cert <file>", "certificate and its chain for TLS, PEM"),
  tlsKey: textFlag("--tls-key <file>", "private key of that certificate, PEM"),
  oidcIssuer: textFlag(
    "--oidc-issuer <url>",
    "issuer of OpenID Connect whose bearer tokens are accepted; needs --oidc-audience",
    { parse: issuerUrl },
  ),
  oidcAudience: textFlag("--oidc-audience <name>", "for whom the issuer's tokens must be issued (aud)"),
  oidcGroupsClaim: textFlag(
    "--oidc-groups-claim <claim>",
    "claim of these tokens with a user's groups, each of which is the team of that name",
  ),
  rateLimit: numberFlag("--rate-limit <n>", "most requests per second of one caller; 0 for no limit", {
    parse: whole(0),
    byDefault: 0,
  }),
  maxLeaseSeconds: numberFlag("--max-lease-seconds <n>", "longest lease that is granted, in seconds", {
    parse: whole(1, 86_400),
    byDefault: 900,
  }),
  keepDays: numberFlag("--keep-days <n>", "days for which ended runs and the status history of rollouts are kept", {
    parse: whole(1, 36_500),
    byDefault: 90,
  }),
  keepHistories: numberFlag("--keep-histories <n>", "versions of each application whose status history is kept", {
    parse: whole(1),
    byDefault: 1000,
  }),
  keepRuns: numberFlag("--keep-runs <n>", "ended runs of each job that are kept", {
    parse: whole(1),
    byDefault: 1000,
  }),
  keepReplies: numberFlag("--keep-replies <n>", "replies kept for idempotency keys, of the last day", {
    parse: whole(0),
    byDefault: 1_000_000,
  }),
  keepAuditDays: numberFlag("--keep-audit-days <n>", "days for which rows of the audit log are kept", {
    parse: whole(1, 36_500),
    byDefault: 365,
  }),
  keepAuditRows: numberFlag("--keep-audit-rows <n>", "rows of the audit log that are kept", {
    parse: whole(1),
    byDefault: 5_000_000,
  }),
  drainSeconds: numberFlag("--drain-seconds <n>", "seconds to keep answering after SIGTERM, while not ready", {
    parse: seconds({ zero: true }),
    byDefault: 0,
  }),
  renewSigningKey: toggleFlag("--renew-signing-key", "sign new tokens of virtual accounts with a new key"),
  subject: textFlag("--subject <subject>", "only what this subject did, such as virtualaccount:ci"),
  resource: textFlag(
    "--resource <identity>",
    "only rows about this resource, such as service/c1:ws1/api, or about all below, such as service/c1:ws1/",
  ),
  since: textFlag("--since <time>", "only rows from then on: an ISO time, or how long ago, such as 2h or 3d"),
  follow: toggleFlag("--follow", "go on and show what is new until it ends, or until you stop it"),
  checkpoint: textFlag(
    "--checkpoint <file>",
    "export or log of serve with checkpoints that were kept outside of the database",
  ),
  revoke: textsFlag("--revoke <subject...>", "revoke the tokens of these subjects, such as virtualaccount:ci"),
  newAdminToken: toggleFlag("--new-admin-token", "make a new admin token at the start, and end the current one"),
  rolloutSeconds: numberFlag("--rollout-seconds <n>", "seconds that a simulated rollout or job run takes", {
    parse: seconds({ zero: true }),
    byDefault: 2,
  }),
  rolloutFailure: textsFlag(
    "--rollout-failure <rule...>",
    "simulated rollouts that fail: GLOB=build, deploy or stuck, with :SECONDS to say after how long",
  ),
  rolloutDriver: textFlag(
    "--rollout-driver <program>",
    "program that carries out rollouts instead of the simulation: JSON on its stdin, a status in each line of its stdout",
    { parse: programPath },
  ),
  rolloutTimeout: numberFlag("--rollout-timeout <s>", "time limit of one run of that program, in seconds", {
    parse: seconds(),
    byDefault: 600,
  }),
  rolloutConcurrency: numberFlag("--rollout-concurrency <n>", "most runs of that program at once", {
    parse: whole(1, 100),
    byDefault: 4,
  }),
} as const satisfies { readonly [name: string]: Flag<unknown> };

/** Name of a flag. */
export type FlagName = keyof typeof flags;

/** The attribute that a flag sets: `--no-wait` sets `wait` to false, and every `--output` sets `output`. */
type Attribute<Name extends FlagName> = Name extends `${string}Output`
  ? "output"
  : Name extends `no${infer Rest}`
    ? Rest extends Capitalize<Rest>
      ? Uncapitalize<Rest>
      : Name
    : Name;

/** The values of some flags, from the command line or the environment; undefined if not given. */
export type Flags<Names extends FlagName = FlagName> = {
  readonly [Name in Names as Attribute<Name>]?: (typeof flags)[Name] extends Flag<infer Value> ? Value : never;
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
