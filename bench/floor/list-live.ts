import { Pool } from "undici";
import { isObject, type Json, type JsonObject } from "../../src/contract/json.ts";

/** The lists that together show everything of the corpus. */
const LISTS = [
  "/api/svc/v1/clusters",
  "/api/svc/v1/teams",
  "/api/ml/v1/ml-repos",
  "/api/svc/v1/workspaces",
  "/api/svc/v1/virtual-accounts",
  "/api/svc/v1/apps",
  "/api/ml/v1/model-versions",
  "/api/ml/v1/prompt-versions",
];

const PAGE = 1000;
const PARALLEL = 4;

/** A bare pool to the control plane of the environment. */
export function openPool(connections: number): { readonly pool: Pool; readonly headers: Record<string, string> } {
  const { HOLDFAST_SERVER = "", HOLDFAST_TOKEN = "" } = process.env;
  const headers = { authorization: `Bearer ${HOLDFAST_TOKEN}`, "content-type": "application/json" };
  return { pool: new Pool(HOLDFAST_SERVER, { connections, pipelining: 1 }), headers };
}

/** Every live manifest, in pages of 1,000, four at a time. */
export async function listLive(): Promise<readonly JsonObject[]> {
  const { pool, headers } = openPool(PARALLEL * 2);
  const read = async (path: string, offset: number) => {
    const query = `?limit=${PAGE}&offset=${offset}`;
    const { statusCode, body } = await pool.request({ method: "GET", path: path + query, headers });
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${await body.text()}`);
    return (await body.json()) as { data: readonly JsonObject[]; pagination: { total: number } };
  };
  const whole = async (path: string) => {
    const first = await read(path, 0);
    const offsets = Array.from({ length: Math.ceil(first.pagination.total / PAGE) }, (_, nth) => nth * PAGE).slice(1);
    const pages = [first.data];
    while (offsets.length > 0) {
      const taken = await Promise.all(offsets.splice(0, PARALLEL).map((offset) => read(path, offset)));
      pages.push(...taken.map(({ data }) => data));
    }
    return pages.flat().map(manifestOf);
  };
  const lists = await Promise.all(LISTS.map(whole));
  await pool.destroy();
  return lists.flat();
}

function manifestOf(row: JsonObject): JsonObject {
  const manifest: Json | undefined = row.manifest ?? (isObject(row.deployment) ? row.deployment.manifest : undefined);
  if (!isObject(manifest)) throw new Error("a row without a manifest");
  return manifest;
}
