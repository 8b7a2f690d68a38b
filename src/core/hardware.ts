import { isObject, type Json, type JsonObject } from "../contract/json.ts";

/** What containers reserve while they run: their requests, and the devices they get. */
export type Hardware = {
  readonly replicas: number;
  /** In cores. */
  readonly cpu: number;
  /** In MB. */
  readonly memory: number;
  /** In MB: disk space of containers, home directories and volumes. */
  readonly storage: number;
  /** How many of each accelerator, by its name. */
  readonly devices: ReadonlyMap<string, number>;
};

/** What reserves nothing. */
export const NO_HARDWARE: Hardware = { replicas: 0, cpu: 0, memory: 0, storage: 0, devices: new Map() };

const MB_IN_GB = 1000;

/** What a service reserves at its largest number of replicas. */
export function hardwareOfReplicas(manifest: JsonObject): Hardware {
  const { replicas } = manifest;
  const most = isObject(replicas) ? (replicas.max_replicas ?? replicas.min_replicas) : replicas;
  return times(hardwareOfContainer(manifest), typeof most === "number" ? most : 1);
}

/** What the one container of a workbench reserves, with its home directory. */
export function hardwareOfWorkbench(manifest: JsonObject): Hardware {
  const container = hardwareOfContainer(manifest);
  return { ...container, storage: container.storage + number(manifest.home_directory_size) * MB_IN_GB };
}

/** What a volume reserves that the platform makes. */
export function hardwareOfVolume({ config }: JsonObject): Hardware {
  const size = isObject(config) && config.type === "dynamic" ? number(config.size) : 0;
  return { ...NO_HARDWARE, storage: size * MB_IN_GB };
}

/** What several reserve together. */
export function hardwareSum(all: readonly Hardware[]): Hardware {
  return all.reduce((sum, one) => add(sum, one, 1), NO_HARDWARE);
}

/** What is reserved more afterwards; negative where it is less. */
export function hardwareGrowth(before: Hardware, after: Hardware): Hardware {
  return add(after, before, -1);
}

function hardwareOfContainer({ resources }: JsonObject): Hardware {
  if (!isObject(resources)) return { ...NO_HARDWARE, replicas: 1 };
  const { cpu_request: cpu, memory_request: memory, ephemeral_storage_request: storage, devices } = resources;
  return {
    ...{ replicas: 1, cpu: number(cpu), memory: number(memory), storage: number(storage) },
    devices: devicesIn(devices),
  };
}

function devicesIn(devices: Json | undefined): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const device of Array.isArray(devices) ? devices.filter(isObject) : []) {
    const name = deviceName(device);
    found.set(name, (found.get(name) ?? 0) + (typeof device.count === "number" ? device.count : 1));
  }
  return found;
}

// A part of a GPU is not the GPU.
function deviceName({ type, name, profile, gpu_memory: memory }: JsonObject): string {
  const plain = String(name ?? type);
  if (typeof profile === "string") return `${plain} ${profile}`;
  return typeof memory === "number" ? `${plain} ${memory} MB` : plain;
}

function number(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function times(one: Hardware, factor: number): Hardware {
  return add(NO_HARDWARE, one, factor);
}

function add(sum: Hardware, one: Hardware, factor: number): Hardware {
  const devices = new Map(sum.devices);
  for (const [name, count] of one.devices) devices.set(name, (devices.get(name) ?? 0) + count * factor);
  return {
    replicas: sum.replicas + one.replicas * factor,
    cpu: sum.cpu + one.cpu * factor,
    memory: sum.memory + one.memory * factor,
    storage: sum.storage + one.storage * factor,
    devices,
  };
}
