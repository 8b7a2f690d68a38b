// src/schema: the validators of manifests and their error messages. See docs/manifests.md#error-messages.

import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import { duplicates, objectsOf, type Rule, type RuleContext } from "./rule.ts";
import { schedules } from "./schedule.ts";
import { error, type SchemaDiagnostic, warning } from "./schema-diagnostic.ts";

/** The rules for the fields that all applications share. Rules that need the cluster come first. */
export const applicationRules: readonly Rule[] = [
  hosts,
  requests,
  sizes,
  bounds,
  ports,
  mounts,
  rollout,
  dependencies,
  schedules,
];

const RESOURCES = ["cpu", "memory", "ephemeral_storage"].map((name) => ({
  request: `${name}_request`,
  limit: `${name}_limit`,
}));

type Resources = { readonly pointer: string; readonly resources: JsonObject };

function resourcesOf(manifest: JsonObject): readonly Resources[] {
  const { resources, driver_config: driver, executor_config: executor } = manifest;
  if (isObject(resources)) return [{ pointer: "/resources", resources }];
  // A Spark job has resources for each of its two parts.
  return [...resourcesIn("/driver_config", driver), ...resourcesIn("/executor_config", executor)];
}

function resourcesIn(pointer: string, part: Json | undefined): readonly Resources[] {
  return isObject(part) && isObject(part.resources)
    ? [{ pointer: `${pointer}/resources`, resources: part.resources }]
    : [];
}

function requests(manifest: JsonObject): readonly SchemaDiagnostic[] {
  return resourcesOf(manifest).flatMap(({ pointer, resources }) =>
    RESOURCES.filter(({ request, limit }) => isAbove(resources[request], resources[limit])).map(({ request, limit }) =>
      error(`${pointer}/${request}`, "inconsistent", `\`${request}\` is above \`${limit}\``),
    ),
  );
}

/** Beyond these a value is in another unit: no machine has so many cores, no container runs in so little memory. */
const MOST_CORES = 256;
const LEAST_MEMORY = 16;
const MOST_MEMORY = 32_000_000;

function sizes(manifest: JsonObject): readonly SchemaDiagnostic[] {
  return resourcesOf(manifest).flatMap(({ pointer, resources }) =>
    SIZES.filter(({ name, isOdd }) => isOddNumber(resources[name], isOdd)).map(({ name, unit, example }) => {
      const message = `\`${name}\` is ${resources[name]} ${unit}: is it in another unit?`;
      return warning(`${pointer}/${name}`, "inconsistent", message, `The unit is ${unit}: ${example}.`);
    }),
  );
}

function isOddNumber(size: Json | undefined, isOdd: (size: number) => boolean): boolean {
  return typeof size === "number" && isOdd(size);
}

const CORES = { isOdd: (cores: number) => cores > MOST_CORES, unit: "cores", example: "`0.5` is half a core" };

const STORAGE = { isOdd: (megabytes: number) => megabytes > MOST_MEMORY, unit: "MB", example: "`2000` is 2 GB" };

const MEMORY = {
  ...STORAGE,
  isOdd: (megabytes: number) => (megabytes > 0 && megabytes < LEAST_MEMORY) || megabytes > MOST_MEMORY,
};

const SIZES = [
  { name: "cpu_request", ...CORES },
  { name: "cpu_limit", ...CORES },
  { name: "memory_request", ...MEMORY },
  { name: "memory_limit", ...MEMORY },
  { name: "ephemeral_storage_request", ...STORAGE },
  { name: "ephemeral_storage_limit", ...STORAGE },
  { name: "shared_memory_size", ...STORAGE },
];

function bounds({ replicas }: JsonObject): readonly SchemaDiagnostic[] {
  if (!isObject(replicas)) return [];
  if (!isAbove(replicas.min_replicas, replicas.max_replicas)) return [];
  return [error("/replicas/min_replicas", "inconsistent", "`min_replicas` is above `max_replicas`")];
}

function isAbove(least: Json | undefined, most: Json | undefined): boolean {
  return typeof least === "number" && typeof most === "number" && least > most;
}

function ports(manifest: JsonObject): readonly SchemaDiagnostic[] {
  const token = ({ port, protocol }: JsonObject) => `${port}/${text(protocol)?.toUpperCase() ?? "TCP"}`;
  return duplicates(manifest.ports, (index) => `/ports/${index}/port`, token, "port and protocol");
}

function hosts(manifest: JsonObject, context: RuleContext): readonly SchemaDiagnostic[] {
  const exposed = objectsOf(manifest.ports, ({ expose }) => expose === true);
  if (exposed.length === 0) return [];
  const { cluster } = context;
  const domains = Array.isArray(cluster?.base_domains)
    ? cluster.base_domains.filter((name) => typeof name === "string")
    : [];
  if (domains.length === 0) return [];
  return exposed.flatMap(({ item, index }) => {
    const host = text(item.host);
    const pointer = `/ports/${index}/host`;
    if (host !== undefined && isUnderBaseDomains(host, domains)) return [];
    const where = `the cluster's base domains (${domains.slice(0, 5).join(", ")})`;
    return host === undefined
      ? [error(pointer, "missing-field", `\`host\` is missing: an exposed port needs one under ${where}`)]
      : [error(pointer, "inconsistent", `\`host\` must lie under ${where}`)];
  });
}

function mounts(manifest: JsonObject): readonly SchemaDiagnostic[] {
  const token = ({ mount_path: path }: JsonObject) => text(path)?.replace(/(?<=.)\/$/, "");
  return duplicates(manifest.mounts, (index) => `/mounts/${index}/mount_path`, token, "mount path");
}

function rollout({ rollout_strategy: strategy }: JsonObject): readonly SchemaDiagnostic[] {
  if (!isObject(strategy) || strategy.type !== "rolling_update") return [];
  if (strategy.max_unavailable_percentage !== 0 || strategy.max_surge_percentage !== 0) return [];
  const message = "with 0 % unavailable and 0 % surge no container can be replaced";
  return [error("/rollout_strategy/max_surge_percentage", "inconsistent", message)];
}

// The platform's samples set `python_dependencies`, but only buildpacks use it.
function dependencies({ image }: JsonObject): readonly SchemaDiagnostic[] {
  const spec = isObject(image) && isObject(image.build_spec) ? image.build_spec : {};
  if (spec.type !== "dockerfile" || (spec.python_dependencies ?? null) === null) return [];
  const message = "`python_dependencies` has no effect on a build by a Dockerfile";
  return [{ ...warning("/image/build_spec/python_dependencies", "inconsistent", message), isAboutName: true }];
}

// Whether a host matches a base domain, ignoring case: `*.x` covers names below x, `x` covers x and names below x.
function isUnderBaseDomains(host: string, domains: readonly string[]): boolean {
  const name = host.toLowerCase();
  return domains.some((domain) => {
    const base = domain.toLowerCase();
    return base.startsWith("*.")
      ? name.endsWith(base.slice(1)) && name !== base.slice(1)
      : name === base || name.endsWith(`.${base}`);
  });
}
