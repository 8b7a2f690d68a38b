import type { Secret } from "../../contract/secret.ts";
import { StoreError } from "../store-error.ts";

/** The address of a database without what is secret in it: `postgres://host:port/name`. */
export function withoutCredentials(address: Secret): string {
  const { protocol, host, pathname, searchParams } = parse(address);
  return `${protocol}//${host || (searchParams.get("host") ?? "localhost")}${pathname}`;
}

function parse(address: Secret): URL {
  const url = URL.parse(address.open());
  if (url !== null && /^postgres(?:ql)?:$/.test(url.protocol)) return url;
  throw new StoreError("malformed", "the database is not given in the form postgres://user@host:5432/name");
}
