import { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type EndedProgram, envOfProgram, runProgram } from "../run-program.ts";
import { type NameForm, storeName } from "../store-name.ts";
import type { SinkPlace, SinkType } from "../token-sink.ts";
import { type StoreKey, sinkOf, type TokenStore } from "../token-store.ts";

/** Gives tokens to a program of the operator, which stores them anywhere. */
export const sink: SinkType = {
  name: "exec",
  open: (place) => sinkOf(programStore(place), place),
};

const SEGMENT: NameForm = { plain: /^[A-Za-z0-9](?:[A-Za-z0-9._@-]*[A-Za-z0-9])?$/, mostLength: 128 };
/** How the program says that a name is taken (`create`), or that nothing is there (`read`). */
const OTHERWISE = 3;
const TIMEOUT_MS = 60_000;
const MOST_BYTES = 64 * 1024;

function programStore({ server, settings: { command }, cwd, env, clock }: SinkPlace): TokenStore {
  const [program, ...args] = command ?? [];
  if (program === undefined) {
    throw new HoldfastError("invalid", "sinks: nothing says which program stores tokens", {
      hint: "give the sink exec its command, as a list of the program and its arguments",
    });
  }
  const nameOf = ({ kind, name, copy }: StoreKey): string => {
    const segments = [server, kind, name].map((one) => storeName(one, SEGMENT));
    return `${segments.join("/")}${copy === 1 ? "" : `.${copy}`}`;
  };
  const run = (action: string, key: StoreKey, input: Secret | null): Promise<EndedProgram> =>
    runProgram(program, [...args, action, nameOf(key)], {
      cwd,
      env: envOfProgram(env),
      input,
      mostBytes: MOST_BYTES,
      stop: clock.timeout(TIMEOUT_MS),
    });
  const failed = (action: string, { code }: EndedProgram): Error =>
    new Error(`${program} ${action} ended with ${endOf(code)}`);
  return {
    title: program,
    create: async (key, value) => {
      const ended = await run("create", key, value);
      if (ended.code === 0) return true;
      if (ended.code === OTHERWISE) return false;
      throw failed("create", ended);
    },
    read: async (key) => {
      const ended = await run("read", key, null);
      if (ended.code === 0) return new Secret(ended.stdout.toString("utf8").replace(/\r?\n$/, ""));
      if (ended.code === OTHERWISE) return null;
      throw failed("read", ended);
    },
    remove: async (key) => {
      const ended = await run("delete", key, null);
      if (ended.code !== 0 && ended.code !== OTHERWISE) throw failed("delete", ended);
    },
    locate: (key) => `${nameOf(key)} of ${program}`,
  };
}

function endOf(code: number | null): string {
  if (code === null)
    return `no exit code: it took longer than ${TIMEOUT_MS / 1000} seconds, printed more than ${MOST_BYTES} bytes, or was killed`;
  return `the exit code ${code}`;
}
