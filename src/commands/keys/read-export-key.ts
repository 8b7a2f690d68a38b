import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { parseKey, readOperatorKeyFile, type SealKey, SealKeyError } from "../../seal/seal-key.ts";
import type { Invocation } from "../command.ts";

/** The key that seals an exported state: from `--export-key-file`, or from `HOLDFAST_EXPORT_KEY`. */
export async function readExportKey({ flags, terminal }: Invocation<"exportKeyFile">): Promise<SealKey> {
  const { env, cwd } = terminal;
  try {
    if (flags.exportKeyFile !== undefined) return (await readOperatorKeyFile(resolve(cwd, flags.exportKeyFile))).newest;
    if (env.HOLDFAST_EXPORT_KEY) return parseKey(env.HOLDFAST_EXPORT_KEY);
  } catch (cause) {
    const why = cause instanceof SealKeyError ? cause.message : `${flags.exportKeyFile} cannot be read`;
    throw new HoldfastError("invalid", `the export key cannot be used: ${why}`, { hint: HOW, cause });
  }
  throw new HoldfastError("invalid", "an exported state is sealed with a key, and there is none", { hint: HOW });
}

const HOW = "make one with `(umask 077; openssl rand -base64 32 > export.key)`, and give it with --export-key-file";
