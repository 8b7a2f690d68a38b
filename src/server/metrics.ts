import { statfs } from "node:fs/promises";
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

/** What the metrics of a control plane read. */
export type ServerMetricsOptions = {
  readonly context: Context;
  readonly gauges: readonly ResourceGauge[];
  readonly readiness: () => Promise<Readiness>;
  /** When the certificate expires, in epoch milliseconds; null without TLS. */
  readonly certificateExpiry: () => number | null;
};

/** Adds the metrics of storage, resources and certificate. */
export function addServerMetrics(
  { everyone, trusted }: MetricRegistries,
  writes: Histogram,
  { context, gauges, readiness, certificateExpiry }: ServerMetricsOptions,
): void {
  everyone.registerMetric(writes);
  addStorage(everyone, readiness);
  for (const gauge of gauges) addResourceGauge({ everyone, trusted }, gauge, context);
  addDisk(trusted, context);
  addConnections(trusted, context);
  if (certificateExpiry() === null) return;
  gaugeOf(trusted, {
    name: "holdfast_certificate_expiry_timestamp_seconds",
    help: "When the TLS certificate in use expires.",
    collect: (gauge) => gauge.set((certificateExpiry() ?? 0) / 1000),
  });
}

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

function addResourceGauge(registries: MetricRegistries, { shownTo, read, ...gauge }: ResourceGauge, context: Context) {
  gaugeOf(registries[shownTo], { ...gauge, collect: async (one) => one.set(await read(context)) });
}

function addDisk(registry: Registry, { folder }: Context): void {
  gaugeOf(registry, {
    name: "holdfast_disk_size_bytes",
    help: "Size of the file system of the data folder.",
    collect: async (gauge) => {
      const { blocks, bsize } = await statfs(folder);
      gauge.set(blocks * bsize);
    },
  });
  gaugeOf(registry, {
    name: "holdfast_disk_available_bytes",
    help: "Space that the server can still use on the file system of the data folder.",
    collect: async (gauge) => {
      const { bavail, bsize } = await statfs(folder);
      gauge.set(bavail * bsize);
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

type OwnGauge = {
  readonly name: string;
  readonly help: string;
  readonly collect: (gauge: Gauge) => void | Promise<void>;
};

// A number that cannot be read now is not shown, and does not keep the others from being shown.
function gaugeOf(registry: Registry, { name, help, collect }: OwnGauge): Gauge {
  return new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      try {
        await collect(this);
      } catch {
        this.remove();
      }
    },
  });
}
