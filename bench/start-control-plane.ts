import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { secretGroup } from "./corpus/block.ts";
import { pinProcess, splitProcessors } from "./pin-process.ts";
import { type BenchServer, startServer } from "./start-server.ts";

/** A control plane in a process of its own, with nothing in it but the secrets of the corpus. */
export type BenchControlPlane = {
  /** Environment under which a client finds it. */
  readonly env: { readonly HOLDFAST_SERVER: string; readonly HOLDFAST_TOKEN: string };
  /** Starts it again at the same place, with the documented operations alone. */
  readonly restrict: () => Promise<void>;
  /** Restricts it to some processors. */
  readonly pin: (processors: string) => void;
  /** The processors that its clients run on; absent where they share all of them with it. */
  readonly processorsLeft?: string;
  readonly stop: () => Promise<void>;
};

/** The administrator's token of every control plane that is started here. */
export const TOKEN = "bench-only-admin-token-0123456789abcdef";

const BIN = join(import.meta.dirname, "../bin/holdfast.js");

/** Starts a control plane on a data folder; its rollouts take no time. */
export function startHoldfastServe(
  data: string,
  flags: readonly string[] = [],
  port = "0",
  program = BIN,
): Promise<BenchServer> {
  const args = [program, "serve", "--port", port, "--data", data, "--rollout-seconds", "0", ...flags];
  return startServer(args, { HOLDFAST_ADMIN_TOKEN: TOKEN, HOLDFAST_LOG_LEVEL: "error" });
}

/** Starts an empty control plane. */
export async function startControlPlane(): Promise<BenchControlPlane> {
  const data = mkdtempSync(join(tmpdir(), "holdfast-bench-plane-"));
  let serving = await startHoldfastServe(data);
  const restrict = async () => {
    await serving.stop();
    serving = await startHoldfastServe(data, ["--documented-only"], new URL(serving.url).port);
  };
  const stop = async () => {
    await serving.stop();
    rmSync(data, { recursive: true, force: true });
  };
  try {
    await makeSecrets(serving.url);
    const pin = (processors: string) => pinProcess(serving.pid, processors);
    return { env: { HOLDFAST_SERVER: serving.url, HOLDFAST_TOKEN: TOKEN }, restrict, pin, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The same control plane from further away: every request arrives so many milliseconds later, and the control plane has
 * a processor to itself, as it would have on another machine.
 */
export async function far(plane: BenchControlPlane, milliseconds: number): Promise<BenchControlPlane> {
  const way = await startServer([
    join(import.meta.dirname, "delay-proxy.ts"),
    plane.env.HOLDFAST_SERVER,
    String(milliseconds),
  ]);
  const stop = async () => {
    await way.stop();
    await plane.stop();
  };
  const distant = { ...plane, env: { ...plane.env, HOLDFAST_SERVER: way.url }, stop };
  const [own, others] = splitProcessors() ?? [];
  if (own === undefined || others === undefined) return distant;
  plane.pin(own);
  pinProcess(way.pid, own);
  return { ...distant, processorsLeft: others };
}

/** The paths by which applications and clusters are read one by one, where there are no lists of them. */
export async function singleReads({ env }: BenchControlPlane): Promise<readonly string[]> {
  const applications = await everyId(env, "/api/svc/v1/apps");
  const clusters = await everyId(env, "/api/svc/v1/clusters");
  return [
    ...applications.map((id) => `/api/svc/v1/apps/${encodeURIComponent(id)}/deployments?limit=1`),
    ...clusters.map((id) => `/api/svc/v1/clusters/${encodeURIComponent(id)}`),
  ];
}

async function everyId(
  { HOLDFAST_SERVER, HOLDFAST_TOKEN }: BenchControlPlane["env"],
  path: string,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let total = 1; ids.length < total; ) {
    const { body } = await request(`${HOLDFAST_SERVER}${path}?limit=1000&offset=${ids.length}`, {
      headers: { authorization: `Bearer ${HOLDFAST_TOKEN}` },
    });
    const page = (await body.json()) as { data: readonly { id: string }[]; pagination: { total: number } };
    if (page.data.length === 0) break;
    ids.push(...page.data.map(({ id }) => id));
    total = page.pagination.total;
  }
  return ids;
}

async function makeSecrets(server: string): Promise<void> {
  const { statusCode, body } = await request(`${server}/api/svc/v1/secret-groups`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(secretGroup),
  });
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(`the secrets were refused with ${statusCode}: ${answer.slice(0, 500)}`);
}
