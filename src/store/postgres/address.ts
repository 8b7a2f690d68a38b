import type { Secret } from "../../contract/secret.ts";
import { StoreError } from "../store-error.ts";

/** The address of a database without what is secret in it: `postgres://host:port/name`. */
export function publicAddress(address: Secret): string {
  const { protocol, host, pathname, searchParams } = parse(address);
  return `${protocol}//${host || (searchParams.get("host") ?? "localhost")}${pathname}`;
}

/** The address as the driver is given it: whoever asks for TLS gets the whole of it, the name of the server checked. */
export function connectionString(address: Secret): string {
  const url = parse(address);
  const asked = url.searchParams.get("sslmode") ?? "";
  if (!LESS.includes(asked) || url.searchParams.has("uselibpqcompat")) return address.open();
  url.searchParams.set("sslmode", "verify-full");
  return url.href;
}

// The driver takes them for it too, with a warning of many lines that a later one may not.
const LESS: readonly string[] = ["prefer", "require", "verify-ca"];

function parse(address: Secret): URL {
  const url = URL.parse(address.open());
  // Where a password holds a `/`, its rest would be taken for the name of the database, and shown.
  if (url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && !url.pathname.includes("@")) return url;
  throw new StoreError(
    "malformed",
    "the database is not given in the form postgres://user@host:5432/name (in a password, / is written %2F and @ %40)",
  );
}
