import { accessSync, constants, statSync } from "node:fs";
import { Secret } from "../../contract/secret.ts";
import { readGivenText } from "../../files/read-given-file.ts";
import { SourceError } from "../source-error.ts";

/** The credentials of a source. */
export type Credentials = {
  readonly username: string;
  /** Sent as the password of `username`. */
  readonly token: Secret | null;
  readonly sshKeyFile: string | null;
};

/** Where the credentials of a source are read from. */
export type CredentialPlaces = {
  /** Name of the source, for messages. */
  readonly source: string;
  readonly username: string | null;
  readonly tokenFile: string | null;
  readonly sshKeyFile: string | null;
  /** The token from the environment; `tokenFile` overrides it. */
  readonly tokenText: string | null;
};

/** Reads the credentials. Called for each fetch, so that a rotated file is used from the next fetch on. */
export function readCredentials({ source, username, tokenFile, sshKeyFile, tokenText }: CredentialPlaces): Credentials {
  if (sshKeyFile !== null) requireReadable(source, sshKeyFile);
  const text = tokenFile === null ? tokenText : readToken(source, tokenFile);
  return { username: username ?? "git", token: text === null ? null : new Secret(text), sshKeyFile };
}

function readToken(source: string, file: string): string {
  try {
    const token = readGivenText(file).trim();
    if (/^[\x21-\x7e]+$/.test(token)) return token;
  } catch (cause) {
    throw unreadable(source, file, cause);
  }
  throw unreadable(source, file);
}

function requireReadable(source: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
    if (!statSync(file).isFile()) throw unreadable(source, file);
  } catch (cause) {
    throw unreadable(source, file, cause);
  }
}

function unreadable(source: string, file: string, cause?: unknown): SourceError {
  return new SourceError("Unauthorized", `the credentials of source ${source} in ${file} are missing or unusable`, {
    hint: "the file must be readable, and hold one token in one line",
    cause,
  });
}
