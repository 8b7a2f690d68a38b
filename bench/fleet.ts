import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { type FleetFigures, type FleetSize, measureFleet } from "./fleet/measure-fleet.ts";
import { exitCodeOf, judgeMemory, judgeTimes, type Row, table } from "./judge-results.ts";

const { values } = parseArgs({
  options: {
    repositories: { type: "string", default: "200" },
    manifests: { type: "string", default: "5000" },
    machines: { type: "string", default: "3" },
    workers: { type: "string", default: "2" },
  },
});
const size: FleetSize = {
  repositories: Number(values.repositories),
  manifests: Number(values.manifests),
  machines: Number(values.machines),
  workers: Number(values.workers),
};
const figures = await measureFleet(size, (line) => console.error(line));
const rows = judge(figures);
process.exitCode = exitCodeOf(rows);
console.log(`\n${table(rows)}\n`);
console.log(
  `${size.machines} processes of ${size.workers} workers, PostgreSQL and the control plane on ${cpus().length} processors.`,
);

function judge({ first, pushMs, verified, listed, single, peakMegabytes }: FleetFigures): readonly Row[] {
  const count = size.repositories * size.manifests;
  const told = (measure: string, figure: string, detail = ""): Row => ({
    measure,
    goal: "",
    figure,
    verdict: "told",
    detail,
  });
  const perManifest = (milliseconds: number, of = count): string => `${((1000 * milliseconds) / of).toFixed(0)} µs`;
  const inOne = single.repositories * size.manifests;
  const most = (measure: string, value: number, atMost: number, unit: string): Row => ({
    measure,
    goal: `≤ ${atMost} ${unit}`,
    figure: `${value.toFixed(0)} ${unit}`,
    verdict: value <= atMost ? "met" : "missed",
    detail: `${count} manifests in ${size.repositories} repositories`,
  });
  return [
    told(
      "first pass, which records what exists",
      `${((1000 * count) / first.milliseconds).toFixed(0)} per s`,
      `${perManifest(first.busyMilliseconds)} of a processor each; ${size.manifests} created`,
    ),
    told("push to live", `${pushMs.toFixed(0)} ms`, "one manifest of one repository"),
    most("pass with nothing to do: requests", verified.requests, 300, "requests"),
    most("pass with nothing to do: the control plane's time", verified.serverMilliseconds, 2000, "ms"),
    told(
      "pass with nothing to do",
      `${(verified.milliseconds / 1000).toFixed(1)} s`,
      `${perManifest(verified.busyMilliseconds)} of a processor each`,
    ),
    told(
      "the same by lists",
      `${(listed.milliseconds / 1000).toFixed(1)} s`,
      `${listed.requests} requests; ${perManifest(listed.busyMilliseconds)} each`,
    ),
    told(
      `the same by lists in one process, ${single.repositories} repositories`,
      `${(single.milliseconds / 1000).toFixed(1)} s`,
      `${single.requests} requests; ${perManifest(single.busyMilliseconds, inOne)} each`,
    ),
    judgeTimes(
      "by lists, processor time for each manifest",
      [listed.busyMilliseconds, (single.busyMilliseconds * count) / inOne],
      { atMost: 1.15, unit: "one process" },
    ),
    judgeMemory("most memory of a process", peakMegabytes, { atMost: 512 }),
  ];
}
