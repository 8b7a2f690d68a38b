import { BlockList, isIP } from "node:net";
import { HoldfastError } from "../core/errors.ts";
import type { Address } from "./server-address.ts";

/** Environment variables in the form of `process.env`. */
export type Environment = { readonly [name: string]: string | undefined };

/** The proxy that the environment names for this address; null for a direct connection. Loopback never uses a proxy. */
export function proxyFor(address: Address, env: Environment): string | null {
  const proxy = variable(env, address.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === "" || isLoopback(address.host) || isExcepted(address, variable(env, "NO_PROXY"))) return null;
  const url = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new HoldfastError("invalid", "the proxy of the environment is not an http or https URL", {
    hint: "set HTTPS_PROXY or HTTP_PROXY to http://HOST:PORT",
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

// The lower-case variable takes precedence, as in curl and git.
function variable(env: Environment, name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}

function isExcepted(address: Address, list: string): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => entry === "*" || matches(entry.toLowerCase(), address));
}

function matches(entry: string, { host, port }: Address): boolean {
  const [, name = entry, entryPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (entryPort !== undefined && Number(entryPort) !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "");
  if (bare.includes("/")) return isWithin(host, bare);
  const suffix = bare.replace(/^\*?\./, "");
  return host === suffix || host.endsWith(`.${suffix}`);
}

function isWithin(host: string, subnet: string): boolean {
  const [network = "", bits = ""] = subnet.split("/");
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const name = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), name);
  return list.check(host, name);
}
