// src/store/postgres: the store on PostgreSQL. See docs/control-plane.md#postgresql.

import type { Secret } from "../../contract/secret.ts";
import { StoreError } from "../store-error.ts";

/** The address of a database without user and password: `postgres://host:port/name`. */
export function publicAddress(address: Secret): string {
  const { protocol, host, pathname, searchParams } = parse(address);
  return `${protocol}//${host || (searchParams.get("host") ?? "localhost")}${pathname}`;
}

/** The address for the driver: every mode of TLS becomes `verify-full`, and names mean those of the schema, if one is given. */
export function connectionString(address: Secret, schema: string | null = null): string {
  const url = parse(address);
  const mode = url.searchParams.get("sslmode") ?? "";
  const isWeaker = WEAKER_MODES.includes(mode) && !url.searchParams.has("uselibpqcompat");
  if (!isWeaker && schema === null) return address.open();
  if (isWeaker) url.searchParams.set("sslmode", "verify-full");
  const options = url.searchParams.get("options") ?? "";
  if (schema !== null) url.searchParams.set("options", `${options} -c search_path=${schema}`.trim());
  return url.href;
}

// The driver treats them as `verify-full` too, but prints a long warning.
const WEAKER_MODES: readonly string[] = ["prefer", "require", "verify-ca"];

function parse(address: Secret): URL {
  const url = URL.parse(address.open());
  // When a password contains a `/`, the rest of it would become part of the database's name, and be shown.
  if (url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && !url.pathname.includes("@")) return url;
  throw new StoreError(
    "malformed",
    "the database is not given in the form postgres://user@host:5432/name (in a password, / is written %2F and @ %40)",
  );
}
