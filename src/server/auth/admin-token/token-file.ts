// biome-ignore-all lint/plugin: a token must not be foreseen
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Secret } from "../../../contract/secret.ts";
import { readOwnFile } from "../../../files/read-own-file.ts";
import { replaceFile } from "../../../files/write-file.ts";
import { OptionsError } from "../../options.ts";
import { isBearerToken } from "../authenticate.ts";

const MIN_LENGTH = 16;
// One to use, and the former one while its users change to it.
const MAX_TOKENS = 2;
// Enough for any token.
const MAX_FILE_BYTES = 64 * 1024;

/** The file of the administrator's token in a data folder. */
export function adminTokenFile(folder: string): string {
  return join(folder, "admin-token");
}

/** The tokens in the file, the newest first; none when it is absent or empty. */
export function readAdminTokens(path: string): readonly Secret[] {
  const bytes = readOwnFile(path, { limit: MAX_FILE_BYTES, isSecret: true });
  return parseAdminTokens(new Secret((bytes ?? "").toString()));
}

/** One token on each line, the newest first. */
export function parseAdminTokens(text: Secret): readonly Secret[] {
  const lines = text
    .open()
    .split("\n")
    .map((line) => line.trim());
  const tokens = [...new Set(lines.filter((line) => line !== ""))];
  if (tokens.length > MAX_TOKENS) throw new OptionsError(`there are at most ${MAX_TOKENS} admin tokens, one a line`);
  return tokens.map(requireToken);
}

/** Writes a token to the file. */
export function writeAdminToken(path: string, token: Secret): void {
  replaceFile(path, `${token.open()}\n`, { durable: true });
}

/** A new random token. */
export function createAdminToken(): Secret {
  return new Secret(`hf_${randomBytes(32).toString("base64url")}`);
}

function requireToken(text: string): Secret {
  if (text.length < MIN_LENGTH) {
    throw new OptionsError(`the administrator's token must be at least ${MIN_LENGTH} characters`);
  }
  if (!isBearerToken(text)) {
    throw new OptionsError(
      "the administrator's token must be of letters, digits and - . _ ~ + / (with = at its end alone)",
    );
  }
  return new Secret(text);
}
