import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether what is sent to a host stays on this machine; a name counts by RFC 6761 alone, without asking anybody. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  const family = isIP(name);
  if (family === 0) return name === "localhost" || name.endsWith(".localhost");
  return loopback.check(name, family === 4 ? "ipv4" : "ipv6");
}

/** Whether a token that is sent to an address can be read on the way. */
export function isSentInClear(url: string): boolean {
  const address = URL.parse(url);
  return address?.protocol === "http:" && !isLoopback(address.hostname);
}
