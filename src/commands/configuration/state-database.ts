import { resolve } from "node:path";
import { errorMessage } from "../../contract/error-message.ts";
import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import { publicAddress } from "../../store/postgres/address.ts";
import type { Invocation } from "../command.ts";

/** The address of the PostgreSQL database that has the state; null where the state is in a folder. */
export function stateDatabase({ flags, terminal }: Invocation, configured: string | null = null): Secret | null {
  const { env, cwd } = terminal;
  const file = flags.state === undefined ? env.HOLDFAST_STATE_FILE : undefined;
  const given = file ? addressIn(resolve(cwd, file)) : (flags.state ?? configured);
  if (given === null || !isAddress(given)) return null;
  // What is on a command line, every user of the machine can read.
  if (flags.state === given && env.HOLDFAST_STATE !== given && hasPassword(given)) {
    throw new HoldfastError("invalid", "--state has a password, which every user of this machine can read", {
      hint: "set HOLDFAST_STATE instead, or name a file that has the address with HOLDFAST_STATE_FILE",
    });
  }
  return requireWellFormed(new Secret(given));
}

function requireWellFormed(address: Secret): Secret {
  try {
    publicAddress(address);
    return address;
  } catch (cause) {
    throw new HoldfastError("invalid", `the state cannot be found: ${errorMessage(cause)}`, { cause });
  }
}

// The driver takes one from the parameters too. What cannot be parsed may have one.
function hasPassword(address: string): boolean {
  const url = URL.parse(address);
  return url === null || url.password !== "" || url.searchParams.has("password");
}

// An address of anything else is no folder either: its name, and a password in it, would be printed.
function isAddress(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text);
}

function addressIn(file: string): string {
  const text = readAddressFile(file).trim();
  if (isAddress(text)) return text;
  throw new HoldfastError("invalid", "the file that HOLDFAST_STATE_FILE names has no address of a database", {
    hint: "it has one line, such as postgres://user:password@host:5432/name",
  });
}

function readAddressFile(file: string): string {
  try {
    return readGivenText(file);
  } catch (cause) {
    throw new HoldfastError("error", `the file that HOLDFAST_STATE_FILE names ${whyUnreadable(cause)}`, { cause });
  }
}
