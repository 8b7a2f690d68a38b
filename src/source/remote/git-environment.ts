import { join } from "node:path";
import type { RemoteAddress } from "./address.ts";
import type { Credentials } from "./credentials.ts";

type Environment = { readonly [name: string]: string };

/** The settings of git for one remote repository. */
export type RemoteSettings = {
  readonly address: RemoteAddress;
  readonly credentials: Credentials;
  /** A file of certificates to trust instead of the system's; null for the system's. */
  readonly caFile: string | null;
  /** The file of host keys that ssh accepts. */
  readonly knownHosts: string | null;
  /** The operator's environment; only its proxy variables are used. */
  readonly env: { readonly [name: string]: string | undefined };
};

const PROXIES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];

// Only the configuration file of our repository is read, and no program that a repository could name is run.
const SAFE: Environment = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.askPass": "",
  "credential.helper": "",
  "fetch.fsckObjects": "true",
  // Every fetched object is kept in a pack: the size of packs is checked against a limit, and few files are faster to
  // check.
  "fetch.unpackLimit": "1",
  "transfer.bundleURI": "false",
  "submodule.recurse": "false",
  "http.followRedirects": "false",
  "http.lowSpeedLimit": "1000",
  "http.lowSpeedTime": "30",
  "gc.autoDetach": "false",
  "advice.fetchShowForcedUpdates": "false",
};

/** The environment of git on a bare repository of ours, without any transport. */
export function localEnvironment(folder: string): Environment {
  return { ...base(folder), GIT_ALLOW_PROTOCOL: "none", ...configuration(SAFE) };
}

/** The environment of git for a remote: one transport, and credentials, which appear in no argument or file. */
export function remoteEnvironment(folder: string, settings: RemoteSettings): Environment {
  const { address, env } = settings;
  const proxies = PROXIES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    ...base(folder),
    ...Object.fromEntries(proxies),
    GIT_ALLOW_PROTOCOL: address.protocol,
    ...configuration({ ...SAFE, ...transport(settings) }),
  };
}

function base(folder: string): Environment {
  const { PATH = "/usr/bin:/bin" } = process.env;
  return {
    PATH,
    // An empty folder, so that git, ssh and curl find no user files.
    HOME: join(folder, "home"),
    LC_ALL: "C",
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

function transport({ address, credentials, caFile, knownHosts }: RemoteSettings): Environment {
  if (address.protocol === "file") return {};
  if (address.protocol === "ssh")
    return { "core.sshCommand": sshCommand(credentials, knownHosts), "ssh.variant": "ssh" };
  const header = authorization(credentials);
  return {
    ...(caFile === null ? {} : { "http.sslCAInfo": caFile }),
    // Only for this origin: a proxy or another host never receives it.
    ...(header === null ? {} : { [`http.${new URL(address.url).origin}/.extraHeader`]: header }),
  };
}

function authorization({ username, token }: Credentials): string | null {
  if (token === null) return null;
  return `Authorization: Basic ${Buffer.from(`${username}:${token.open()}`).toString("base64")}`;
}

// Only host keys that the operator pinned are accepted, and ssh never prompts.
function sshCommand({ sshKeyFile }: Credentials, knownHosts: string | null): string {
  const options = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${quotedForSsh(knownHosts ?? "/dev/null")}`,
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "PasswordAuthentication=no",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
  ];
  const identity = sshKeyFile === null ? [] : ["-i", sshKeyFile];
  return ["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option]), ...identity].map(quoted).join(" ");
}

// Git hands the command to a shell.
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

// ssh itself splits the value at white space.
function quotedForSsh(path: string): string {
  return `"${path}"`;
}

// Settings that override every configuration file. Unlike arguments, the environment is readable by this user only.
function configuration(settings: Environment): Environment {
  const pairs = Object.entries(settings);
  return {
    GIT_CONFIG_COUNT: `${pairs.length}`,
    ...Object.fromEntries(
      pairs.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
