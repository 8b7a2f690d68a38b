import { isObject, type JsonObject, parseJsonOrNull } from "../contract/json.ts";
import { Secret } from "../contract/secret.ts";
import { escapeUnprintable } from "../model/unprintable.ts";
import type { ParsedSopsFile } from "./parse-sops-file.ts";
import { SopsError } from "./sops-error.ts";

/** The program `sops` of the operator, for files whose keys are those of other services. */
export type SopsProgram = {
  /** Its name, for messages. */
  readonly name: string;
  /** Runs it with arguments and an input; without a code it was killed, or has printed too much. Throws where it cannot be run. */
  readonly run: (
    args: readonly string[],
    input: Secret,
  ) => Promise<{ readonly code: number | null; readonly stdout: Uint8Array }>;
};

/**
 * The decrypted content of a file, by the program. It gets the file on standard input and verifies the MAC itself; nothing is
 * written.
 */
export async function decryptByProgram(
  { text, format }: ParsedSopsFile,
  file: string,
  program: SopsProgram,
): Promise<JsonObject> {
  const name = escapeUnprintable(program.name);
  const hint = `try it by hand: ${name} --decrypt ${escapeUnprintable(file)}`;
  const args = ["--decrypt", "--input-type", format, "--output-type", "json", "/dev/stdin"];
  const ended = await program.run(args, new Secret(text)).catch((error: unknown) => {
    if (error instanceof DOMException) throw error;
    throw new SopsError("no-identity", `${file}: ${name} cannot be run`, "correct `sops.program`");
  });
  if (ended.code !== 0) {
    const { code } = ended;
    const how = code === null ? "took too long, printed too much, or was killed" : `ended with the exit code ${code}`;
    throw new SopsError("wrong-identity", `${file}: ${name} ${how}, and did not decrypt it`, hint);
  }
  const value = parseJsonOrNull(Buffer.from(ended.stdout).toString("utf8"));
  if (isObject(value)) return value;
  throw new SopsError("malformed", `${file}: ${name} printed no JSON object`, hint);
}
