import { type Command, InvalidArgumentError, Option } from "commander";
import { HoldfastError } from "../core/errors.ts";
import { sinks } from "../engine/sinks/index.ts";

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

// An empty one is a variable that somebody forgot to set, and other data would be used than was meant.
function given(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must not be empty: leave it out for SQLite.");
}

// It goes into a header, and into a path, where dots would be steps.
function scope(text: string): string {
  if (/^[\x21-\x7e]{1,256}$/.test(text) && !/^\.{1,2}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be 1 to 256 printable characters without spaces, such as c1:ws1.");
}

/** Every flag, by the name that commands pick it with; `HOLDFAST_<FLAG>` is its twin in the environment. */
const flags = {
  source: () => new Option("--source <dir>", "the source folder; by default the one that holds holdfast.yaml"),
  config: () => new Option("--config <file>", "configuration; by default holdfast.yaml at the top of the source"),
  only: () => new Option("--only <id...>", "only these identities, with what they refer to"),
  kind: () => new Option("--kind <kind...>", "only these kinds, with what they refer to"),
  exclude: () => new Option("--exclude <glob...>", "leave out the identities that match"),
  strict: () => new Option("--strict", "warnings are errors"),
  partial: () => new Option("--partial", "go on with the valid manifests when others are invalid"),
  server: () => new Option("--server <url>", "the control plane"),
  embedded: () => new Option("--embedded", "the embedded control plane, with its data under the state folder"),
  tokenFile: () => new Option("--token-file <file>", "file with the bearer token (or HOLDFAST_TOKEN)"),
  caFile: () => new Option("--ca-file <file>", "certificates to trust besides the system's, PEM"),
  state: () => new Option("--state <dir>", "ledger, journal and tokens (default: .holdfast in the source)"),
  concurrency: () => new Option("--concurrency <n>", "requests in flight").argParser(whole(1)),
  timeout: () => new Option("--timeout <s>", "seconds for the whole command").argParser(seconds()),
  requestTimeout: () => new Option("--request-timeout <s>", "seconds for one request").argParser(seconds()),
  connectTimeout: () => new Option("--connect-timeout <s>", "seconds for the first contact").argParser(seconds()),
  retryWait: () =>
    new Option("--retry-wait <s>", "seconds that a control plane may ask to wait").argParser(seconds({ zero: true })),
  output: () =>
    new Option("-o, --output <format>", "how the result is written").choices(["text", "json"]).default("text"),
  show: () => new Option("--show <what...>", "show these too").choices(["unchanged", "unmanaged", "server"]),
  base: () => new Option("--base <ref>", "commit to compare with, such as the pull request's base"),
  out: () => new Option("--out <file>", "write the plan to a file, for apply --plan"),
  plan: () => new Option("--plan <file>", "apply exactly this plan, or nothing when it is stale"),
  detailedExitcode: () => new Option("--detailed-exitcode", "exit 2 when there are changes"),
  noDetailedExitcode: () => new Option("--no-detailed-exitcode", "exit 0 although there is drift"),
  yes: () => new Option("-y, --yes", "do not ask"),
  wait: () => new Option("--wait", "wait for rollouts, 10 minutes at most (the default)"),
  noWait: () => new Option("--no-wait", "do not wait for rollouts"),
  failFast: () => new Option("--fail-fast", "start nothing more after the first failure"),
  allowShrink: () =>
    new Option("--allow-shrink", "act although the source declares, or live shows, far less than before"),
  sink: () => new Option("--sink <sink>", "where one-time tokens go").choices(sinks.map(({ name }) => name)),
  leaseScope: () =>
    new Option(
      "--lease-scope <scope>",
      "what no other writer shares (default: the source's one workspace, or everything)",
    ).argParser(scope),
  interval: () => new Option("--interval <s>", "seconds between full passes").argParser(seconds()),
  noColor: () => new Option("--no-color", "no colours"),
  logLevel: () =>
    new Option("--log-level <level>", "how much is logged").choices(["error", "warn", "info", "debug", "trace"]),
  logFormat: () => new Option("--log-format <format>", "how it is logged").choices(["json", "pretty"]),
  host: () => new Option("--host <host>", "address to listen on").default("127.0.0.1"),
  port: () =>
    new Option("--port <port>", "port to listen on; 0 picks a free one").argParser(whole(0, 65_535)).default(7071),
  data: () => new Option("--data <dir>", "data folder (default: control-plane in the state folder)"),
  database: () =>
    new Option(
      "--database <url>",
      "PostgreSQL for the data, postgres://user@host/name (default: SQLite in --data)",
    ).argParser(given),
  seed: () => new Option("--seed <folder>", "create what the manifests of a folder declare and is absent"),
  snapshot: () => new Option("--snapshot <url>", "copy what is absent here from a live control plane, by reads alone"),
  names: () => new Option("--names <folder>", "manifests whose names --snapshot looks up where there is no list"),
  artifactRoot: () =>
    new Option("--artifact-root <uri>", "where staged versions go, file:///folder or s3://bucket/prefix").argParser(
      artifactUri,
    ),
  documentedOnly: () => new Option("--documented-only", "serve the 20 documented operations and the secret read alone"),
  unknownFields: () =>
    new Option("--unknown-fields <mode>", "fields that the schemas do not know").choices(["refuse", "allow"]),
  tlsCert: () => new Option("--tls-cert <file>", "certificate with its chain to speak TLS with, PEM"),
  tlsKey: () => new Option("--tls-key <file>", "private key of that certificate, PEM"),
  rateLimit: () =>
    new Option("--rate-limit <n>", "requests a second that one caller may make; 0 for any number")
      .argParser(whole(0))
      .default(0),
  maxLeaseSeconds: () =>
    new Option("--max-lease-seconds <n>", "seconds that a lease may be taken for at most")
      .argParser(whole(1, 86_400))
      .default(900),
  drainSeconds: () =>
    new Option("--drain-seconds <n>", "seconds to go on answering, not ready, when asked to end")
      .argParser(seconds({ zero: true }))
      .default(0),
  renewSigningKey: () => new Option("--renew-signing-key", "sign new tokens of virtual accounts with a new key"),
  revoke: () => new Option("--revoke <subject...>", "make the tokens of these void, such as virtualaccount:ci"),
  rolloutSeconds: () =>
    new Option("--rollout-seconds <n>", "length of a simulated rollout, or of a job's run")
      .argParser(seconds({ zero: true }))
      .default(2),
} as const;

/** Name of a flag. */
export type FlagName = keyof typeof flags;

const general = ["source", "config", "state", "timeout", "noColor", "logLevel", "logFormat"] as const;

/** Flags of every command that reads manifests. */
export const sourceFlags = ["only", "kind", "exclude", "strict", "partial"] as const satisfies readonly FlagName[];

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

/** Gives a command its flags, after those that every command has. */
export function addFlags(command: Command, names: readonly FlagName[]): Command {
  for (const name of [...names, ...general]) command.addOption(flags[name]());
  return command;
}

// What names the server on the command line overrules the environment's other way to name one.
const rivals: { readonly [attribute: string]: string } = { server: "embedded", embedded: "server" };

/** Fills in from the environment what the command line leaves out: `HOLDFAST_<FLAG>`, empty counting as absent. */
export function readEnvironment(command: Command, env: { readonly [name: string]: string | undefined }): void {
  for (const option of command.options) {
    const attribute = option.attributeName();
    const said = [attribute, rivals[attribute] ?? attribute].map((name) => command.getOptionValueSource(name));
    if (said.includes("cli")) continue;
    const name = `HOLDFAST_${option.name().replaceAll("-", "_").toUpperCase()}`;
    const text = env[name];
    if (text === undefined || text === "") continue;
    command.setOptionValueWithSource(attribute, valueFrom(option, text, name), "env");
  }
}

// Commander explains what is wrong with a flag, and knows nothing of its twin.
function wrong(name: string, why: string): HoldfastError {
  return new HoldfastError("invalid", `${name} in the environment is wrong: ${why}`, {
    hint: "correct it, unset it, or overrule it with the flag",
  });
}

function valueFrom(option: Option, text: string, name: string): unknown {
  if (option.isBoolean() || option.negate) {
    // `HOLDFAST_NO_WAIT=true` says no to waiting.
    if (/^(?:1|true|yes|on)$/i.test(text)) return !option.negate;
    if (/^(?:0|false|no|off)$/i.test(text)) return option.negate;
    throw wrong(name, "it must be true or false");
  }
  const texts = option.variadic ? text.split(/[\s,]+/).filter((part) => part !== "") : [text];
  const choices = option.argChoices;
  if (choices !== undefined && texts.some((part) => !choices.includes(part)))
    throw wrong(name, `it must be one of ${choices.join(", ")}`);
  if (option.variadic) return texts;
  try {
    return option.parseArg === undefined || choices !== undefined ? text : option.parseArg(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw wrong(name, error.message);
  }
}
