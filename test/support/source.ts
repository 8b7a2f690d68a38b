import { globSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Once } from "./both-ways.ts";
import { bundled } from "./bundled-commands.ts";
import { temporaryFolder } from "./folder.ts";
import { type Ended, type Running, run, start } from "./process.ts";
import type { Server } from "./server.ts";

/** The project's examples. */
export const examples: string = resolve(import.meta.dirname, "../../examples");

/** How many manifests the examples have. */
export const exampleCount: number = globSync("manifests/**/*.{yaml,json}", { cwd: examples })
  .map((file) => readFileSync(join(examples, file), "utf8").match(/^(?:type| {2}"type"):/gm)?.length ?? 0)
  .reduce((sum, count) => sum + count, 0);

type Environment = { readonly [name: string]: string };

/** The environment of a run that guards hold for: what they do is tested by itself, elsewhere a source may do anything. */
export const guarded: Environment = { HOLDFAST_ALLOW_ADOPT: "", HOLDFAST_ALLOW_PRIVILEGE: "" };

/** A source folder, and `holdfast` run in it. */
export type Source = {
  readonly folder: string;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly remove: (file: string) => Promise<void>;
  readonly run: (args: readonly string[], env?: Environment, options?: Once) => Promise<Ended>;
  /** Runs a command in the process of the tests, for a fifth of what a process costs: where nothing ends or looks at it. */
  readonly runHere: (args: readonly string[], env?: Environment, options?: Once) => Promise<Ended>;
  /** Runs a command where no file may have more blocks of 512 bytes than that. */
  readonly runWithin: (mostBlocks: number, args: readonly string[]) => Promise<Ended>;
  /** Runs a command that another one starts. */
  readonly runThrough: (through: readonly string[], args: readonly string[], env?: Environment) => Promise<Ended>;
  /** Runs a command in a folder below. */
  readonly runIn: (folder: string, args: readonly string[]) => Promise<Ended>;
  readonly start: (args: readonly string[], env?: Environment, through?: readonly string[]) => Running;
};

/** A folder with the given files; commands run in it talk to the server, where there is one. */
export async function sourceOf(
  files: { readonly [file: string]: string },
  server?: Pick<Server, "url" | "token">,
): Promise<Source> {
  const folder = await temporaryFolder();
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(files)) await write(file, text);
  const allowed = { HOLDFAST_ALLOW_ADOPT: "true", HOLDFAST_ALLOW_PRIVILEGE: "true" };
  const surroundings = (env: Environment = {}, cwd = folder) => ({
    cwd,
    env: {
      ...allowed,
      ...(server === undefined ? {} : { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token }),
      ...env,
    },
  });
  return {
    folder,
    write,
    remove: (file) => rm(join(folder, file), { recursive: true }),
    run: (args, env, options) => run(args, { ...surroundings(env), ...options }),
    runHere: (args, env, options) => bundled().runHere(args, { ...surroundings(env), ...options }),
    runWithin: (mostBlocks, args) =>
      run(args, { ...surroundings(), mostBlocks, once: "a second run finds what the first one had room for" }),
    runThrough: (through, args, env) => run(args, { ...surroundings(env), through }),
    runIn: (below, args) => run(args, surroundings({}, join(folder, below))),
    start: (args, env, through = []) => start(args, { ...surroundings(env), through }),
  };
}

/** A copy of the examples' manifests. */
export async function exampleSource(server?: Server): Promise<Source> {
  const source = await sourceOf({}, server);
  await cp(join(examples, "manifests"), source.folder, { recursive: true });
  return source;
}
