import type { Kysely } from "kysely";
import { text } from "../../contract/json.ts";
import { notFound } from "../../http/refusal.ts";
import { may } from "../access.ts";
import { addonOn, withHelm } from "../addons/addon.ts";
import { catalogue } from "../addons/catalogue.ts";
import type { Handler } from "../call.ts";
import { findCluster } from "../data/clusters.ts";
import type { Tables } from "../data/tables.ts";
import { fromText, toText } from "../json-text.ts";
import { type Served, serve } from "../serve.ts";

const listAddons: Handler<"listAddons"> = async ({ principal, path: { id }, page }, { store }) => {
  const cluster = may(principal, "read", { type: "cluster", fqn: id }) ? await findCluster(store.read, id) : null;
  if (cluster === null) throw notFound("the cluster");
  const applications = (await helmApplications(store.read, id)).map(withHelm);
  const clusterType = text(cluster.manifest.cluster_type) ?? "";
  const wanted = catalogue.slice(page.offset, page.offset + page.limit);
  return {
    rows: wanted.map((entry) => toText(addonOn(clusterType, entry, applications))),
    total: catalogue.length,
  };
};

/** Operation 11: the addons that a cluster has, and those that it could have, by name. */
export const addons: readonly Served[] = [serve("listAddons", listAddons)];

async function helmApplications(database: Kysely<Tables>, clusterId: string) {
  const rows = await database
    .selectFrom("applications as a")
    .innerJoin("workspaces as w", "w.id", "a.workspace_id")
    .innerJoin("deployments as d", "d.id", "a.last_deployment_id")
    .select(["a.json as application", "d.json as deployment"])
    .where("a.type", "=", "helm")
    .where("w.cluster_id", "=", clusterId)
    .orderBy("a.created_at")
    .orderBy("a.id")
    .execute();
  return rows.map(({ application, deployment }) => ({
    application: fromText(application),
    deployment: fromText(deployment),
  }));
}
