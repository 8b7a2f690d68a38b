import { HoldfastError } from "../core/errors.ts";

/** The parsed address of a control plane. */
export type Address = {
  readonly origin: string;
  readonly protocol: "http:" | "https:";
  /** The host name, without brackets. */
  readonly host: string;
  readonly port: number;
  /** The base path before each operation's path, without a trailing slash. */
  readonly base: string;
};

/** Parses a server URL. Credentials, a query or a fragment are refused, since they would appear in logs. */
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
