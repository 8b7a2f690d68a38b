import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { isLoopback } from "../../http/loopback.ts";
import { locateRepository } from "../git/repository-paths.ts";

/** The address of a remote repository, and the one transport that git may use for it. */
export type RemoteAddress = {
  readonly protocol: "https" | "http" | "ssh" | "file";
  /** The URL for git, without credentials. */
  readonly url: string;
};

// ssh would read a host or a user that begins with a dash as an option.
const SSH_URL = /^ssh:\/\/(?:[\w.][\w.-]*@)?(?:[\w][\w.-]*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?\/[^\s\\]+$/;
const SCP = /^(?:[\w.][\w.-]*@)?[\w][\w.-]*:(?![-:/]{2})[^-\s\\:][^\s\\]*$/;
const HINT = "use https://host/path, ssh://user@host/path, an absolute path, or http:// on this machine alone";

/** Reads the address of a source; refuses every transport but https, ssh, a local path and http on loopback. */
export function parseRemoteAddress(text: string): RemoteAddress {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused here
  if (/[\u0000-\u0020\u007f]|%0[0ad]/i.test(text)) throw refused(text, "has white space or control characters");
  if (isAbsolute(text)) return { protocol: "file", url: normalize(text) };
  if (/^https?:/i.test(text)) return webAddress(text);
  if (SSH_URL.test(text) || (!text.includes("://") && SCP.test(text))) return { protocol: "ssh", url: text };
  throw refused(text, "is not a valid source address");
}

function webAddress(text: string): RemoteAddress {
  const url = URL.parse(text);
  if (url === null || url.hostname === "") throw refused(text, "is not a valid URL");
  if (url.username !== "" || url.password !== "") {
    throw new HoldfastError("invalid", "the url of a source holds a user name or a password", {
      hint: "take them out, and name the files that hold them under `credentials`",
    });
  }
  if (url.search !== "" || url.hash !== "") throw refused(text, "has a query or a fragment");
  if (url.protocol === "https:") return { protocol: "https", url: url.href };
  if (!isLoopback(url.hostname)) throw refused(text, "would send manifests and credentials in clear");
  return { protocol: "http", url: url.href };
}

function refused(text: string, why: string): HoldfastError {
  const shown = text.replace(/\/\/[^/@]*@/, "//…@");
  return new HoldfastError("invalid", `the url ${JSON.stringify(shown)} ${why}`, { hint: HINT });
}

/** Whether two addresses are known to name one repository, however they are spelled and whichever transport they use. */
export function isOneRepository(one: RemoteAddress, other: RemoteAddress): boolean {
  if (one.url === other.url) return true;
  if (one.protocol === "file" || other.protocol === "file")
    return one.protocol === other.protocol && localFolder(one.url) === localFolder(other.url);
  const [a, b] = [hostedPlace(one), hostedPlace(other)];
  // The port of ssh says nothing of that of https.
  return a.host === b.host && a.path === b.path && (a.port === b.port || one.protocol !== other.protocol);
}

// As git finds a repository: with or without `.git`, through links, and for a linked worktree the one that it belongs to.
function localFolder(path: string): string {
  const bare = path.replace(/\/+$/, "");
  const folder = existsSync(bare) ? bare : `${bare}.git`;
  if (!existsSync(folder)) return bare;
  const checkout = existsSync(join(folder, ".git")) ? locateRepository(folder) : null;
  return realpathSync(checkout?.commonFolder ?? folder);
}

type HostedPlace = { readonly host: string; readonly port: string; readonly path: string };

// Forges do not tell apart names that differ in case alone.
function hostedPlace({ protocol, url }: RemoteAddress): HostedPlace {
  const scp = protocol === "ssh" && !url.includes("://") ? url.replace(":", "/") : null;
  const { hostname, port, pathname } = new URL(scp === null ? url : `ssh://${scp}`);
  const host = hostname.toLowerCase().replace(/\.$/, "");
  const path = decoded(pathname)
    .toLowerCase()
    .replace(/\/+/g, "/")
    .replace(/(?:\/|\/?\.git)+$/, "");
  return { host: isLoopback(host) ? "localhost" : host, port: protocol === "ssh" && port === "22" ? "" : port, path };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
