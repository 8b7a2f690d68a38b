// src/engine/secrets: where the values of secrets come from. See docs/secrets.md.

import { resolve } from "node:path";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { HoldfastConfig } from "../../contract/generated/config.ts";
import { Secret } from "../../contract/secret.ts";
import { readGivenFile, whyUnreadable } from "../../files/read-given-file.ts";
import { envOfProgram, type ProgramRun, runProgram } from "../run-program.ts";

/** One source of a value, as the operator lists it. */
export type SecretSource = NonNullable<HoldfastConfig["secretSources"]>[number];

/** The machine that sources are read on. */
export type SecretPlace = {
  /** The folder that relative paths are in, and that programs run in. */
  readonly cwd: string;
  readonly env: ProgramRun["env"];
  readonly clock: Clock;
  /** Variables that hold values, and are in no program's environment. */
  readonly hidden: ReadonlySet<string>;
};

/** A value, or why there is none; the reason shows no part of a value. */
export type ReadSecret = { readonly value: Secret } | { readonly why: string };

const MOST_BYTES = 64 * 1024;
const TIMEOUT_MS = 30_000;

/** Reads the value of a source. One line end at the end of a file or of an output is not part of it. */
export async function readSecretSource(source: SecretSource, place: SecretPlace, stop: Stop): Promise<ReadSecret> {
  const { name, env, file, command } = source;
  if (env) {
    const value = place.env[env];
    return value === undefined ? unread(`${name}: the variable ${env} is not set`) : textValue(name, value);
  }
  if (file) return fromFile(name, resolve(place.cwd, file), file);
  if (command) return fromProgram(name, command, place, stop);
  return unread(`${name}: nothing says where its value is`);
}

function fromFile(name: string, path: string, shown: string): ReadSecret {
  try {
    const bytes = readGivenFile(path, MOST_BYTES + LINE_END_BYTES);
    return fromBytes(name, bytes, `the file ${shown}`);
  } catch (error) {
    return unread(`${name}: the file ${shown} ${whyUnreadable(error)}`);
  }
}

const LINE_END_BYTES = 2;

async function fromProgram(
  name: string,
  [program = "", ...args]: readonly string[],
  { cwd, env, clock, hidden }: SecretPlace,
  { signal }: Stop,
): Promise<ReadSecret> {
  const stop = AbortSignal.any([signal, clock.timeout(TIMEOUT_MS)]);
  const running = { cwd, env: envOfProgram(env, hidden), input: null, mostBytes: MOST_BYTES + LINE_END_BYTES, stop };
  try {
    const { code, stdout } = await runProgram(program, args, running);
    signal.throwIfAborted();
    if (code === 0) return fromBytes(name, stdout, program);
    const end =
      code === null
        ? `it took longer than ${TIMEOUT_MS / 1000} seconds, printed more than ${MOST_BYTES} bytes, or was killed`
        : `it ended with the exit code ${code}`;
    return unread(`${name}: ${program} gave no value: ${end}`);
  } catch (error) {
    signal.throwIfAborted();
    return unread(`${name}: ${error instanceof Error ? error.message : "the program cannot be run"}`);
  }
}

function fromBytes(name: string, bytes: Buffer, from: string): ReadSecret {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return textValue(name, text.replace(/\r?\n$/, ""));
  } catch {
    return unread(`${name}: what ${from} gives is not text in UTF-8`);
  }
}

/** A text as a value; without one where it is empty or too long. */
export function textValue(name: string, value: string): ReadSecret {
  if (value === "") return unread(`${name}: its value is empty`);
  if (Buffer.byteLength(value) > MOST_BYTES) return unread(`${name}: its value is larger than ${MOST_BYTES} bytes`);
  return { value: new Secret(value) };
}

function unread(why: string): ReadSecret {
  return { why };
}
