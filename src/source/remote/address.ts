import { isAbsolute, normalize } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { isLoopback } from "../../http/loopback.ts";

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
