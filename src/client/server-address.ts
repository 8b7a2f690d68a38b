import { HoldfastError } from "../core/errors.ts";

/** A control plane's address, taken apart once. */
export type Address = {
  readonly origin: string;
  readonly protocol: "http:" | "https:";
  /** Host name without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path in front of every operation's path, without a slash at its end. */
  readonly base: string;
};

/** Reads a server URL; credentials, a query or a fragment in it are refused, since they would end up in logs. */
export function parseAddress(server: string): Address {
  const url = URL.canParse(server) ? new URL(server) : null;
  if (url === null) throw refuse("is not a URL");
  const { protocol } = url;
  if (protocol !== "http:" && protocol !== "https:") throw refuse("is neither http nor https");
  if (url.username !== "" || url.password !== "") throw refuse("contains credentials");
  if (url.search !== "" || url.hash !== "") throw refuse("contains a query or a fragment");
  return {
    origin: url.origin,
    protocol,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (protocol === "https:" ? 443 : 80)),
    base: url.pathname.replace(/\/+$/, ""),
  };
}

function refuse(fault: string): HoldfastError {
  return new HoldfastError("invalid", `the server address ${fault}`, {
    hint: "give it as http://HOST:PORT or https://HOST, and the token through --token-file or HOLDFAST_TOKEN",
  });
}
