import { statfs } from "node:fs/promises";
import { sql } from "kysely";
import { Gauge, Histogram, type Registry } from "prom-client";
import type { Readiness } from "../http/health.ts";
import type { MetricRegistries } from "../http/metrics.ts";
import type { Context } from "./context.ts";
import type { ResourceGauge } from "./resource.ts";

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the histogram of writes. */
export function createWriteDurations(): Histogram {
  return new Histogram({
    name: "holdfast_database_write_duration_seconds",
    help: "Time of a write to the database, from its begin to its durable commit, with the wait for other writes.",
    buckets: seconds,
    registers: [],
  });
}

/** Adds the metrics of storage and disk, and these gauges. */
export function addServerMetrics(
  registries: MetricRegistries,
  writes: Histogram,
  gauges: readonly ResourceGauge[],
  readiness: () => Promise<Readiness>,
  context: Context,
): void {
  registries.everyone.registerMetric(writes);
  addStorage(registries.everyone, readiness);
  for (const gauge of [...gauges, ...diskGauges]) addGauge(registries, gauge, context);
  addConnections(registries.trusted, context);
}

const diskGauges: readonly ResourceGauge[] = [
  {
    name: "holdfast_database_size_bytes",
    help: "Size of the database: the file of SQLite, with the space that it will use again, or the database in PostgreSQL.",
    shownTo: "trusted",
    read: async ({ store }) => {
      const size = store.isShared
        ? sql<{ size: string }>`SELECT pg_database_size(current_database()) AS size`
        : sql<{
            size: number;
          }>`SELECT c.page_count * s.page_size AS size FROM pragma_page_count() c, pragma_page_size() s`;
      return Number((await size.execute(store.read)).rows[0]?.size);
    },
  },
  {
    name: "holdfast_disk_size_bytes",
    help: "Size of the file system of the data folder.",
    shownTo: "trusted",
    read: async ({ folder }) => {
      const { blocks, bsize } = await statfs(folder);
      return blocks * bsize;
    },
  },
  {
    name: "holdfast_disk_available_bytes",
    help: "Space that the server can still use on the file system of the data folder.",
    shownTo: "trusted",
    read: async ({ folder }) => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  },
];

function addStorage(registry: Registry, readiness: () => Promise<Readiness>): void {
  new Gauge({
    name: "holdfast_storage_up",
    help: "1 while the database can be read, and while it can be written.",
    labelNames: ["access"],
    registers: [registry],
    async collect() {
      const { is } = await readiness();
      this.set({ access: "read" }, is === "not-ready" ? 0 : 1);
      this.set({ access: "write" }, is === "ready" ? 1 : 0);
    },
  });
}

function addConnections(registry: Registry, { store }: Context): void {
  new Gauge({
    name: "holdfast_database_connections",
    help: "Connections to PostgreSQL, by pool and state.",
    labelNames: ["pool", "state"],
    registers: [registry],
    collect() {
      for (const { pool, idle, busy } of store.connections()) {
        this.set({ pool, state: "idle" }, idle);
        this.set({ pool, state: "busy" }, busy);
      }
    },
  });
  new Gauge({
    name: "holdfast_database_connection_waiters",
    help: "Queries that wait for a connection to PostgreSQL.",
    labelNames: ["pool"],
    registers: [registry],
    collect() {
      for (const { pool, waiters } of store.connections()) this.set({ pool }, waiters);
    },
  });
}

// A number that cannot be read now is not shown, and does not keep the others from being shown.
function addGauge(registries: MetricRegistries, { name, help, shownTo, read }: ResourceGauge, context: Context): void {
  new Gauge({
    name,
    help,
    registers: [registries[shownTo]],
    async collect() {
      try {
        this.set(await read(context));
      } catch {
        this.remove();
      }
    },
  });
}
