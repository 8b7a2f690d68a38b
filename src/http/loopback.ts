import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether a host is this machine. Names are classified by RFC 6761 only, without a DNS query. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  const family = isIP(name);
  if (family === 0) return name === "localhost" || name.endsWith(".localhost");
  return loopback.check(name, family === 4 ? "ipv4" : "ipv6");
}

/** Whether a host name stands for this server: it is this machine, or one of the server's own names. */
export function isOwnHost(name: string, hosts: readonly string[]): boolean {
  return isLoopback(name) || hosts.includes(name.toLowerCase());
}

/**
 * Whether a request comes from this machine to a server that listens on loopback. The host name counts too: with DNS
 * rebinding, a page of another site makes a browser call this machine under the host name of that site.
 */
export function isOnLoopback(host: string, { hostname }: { readonly hostname: string }): boolean {
  return isLoopback(host) && isLoopback(hostname);
}

/** Whether a token sent to a URL travels unencrypted over a network. */
export function isSentInClear(url: string): boolean {
  const address = URL.parse(url);
  return address?.protocol === "http:" && !isLoopback(address.hostname);
}
