import { notFound } from "../../../http/http-error.ts";
import { isAllowed } from "../../auth/access.ts";
import { countTotal, newestFirst, selectPage, selectTextRows } from "../../database/select-page.ts";
import type { Handler } from "../../http/operation-call.ts";
import { byteLength } from "../../http/reply-size.ts";
import { visibleWorkspaces } from "../workspace.ts";
import { applicationText, deploymentText } from "./reply-json.ts";
import { findApplicationText } from "./rows.ts";

/** Lists the deployments of one application. */
export const listDeployments: Handler<"listDeployments"> = async (call, { store }) => {
  const application = await findApplicationText(store.read, call.path.id);
  if (
    application === null ||
    !isAllowed(call.principal, "read", { type: "workspace", fqn: application.workspaceFqn })
  ) {
    throw notFound("the application");
  }
  const { version, deploymentId } = call.query;
  let rows = store.read.selectFrom("deployments").where("application_id", "=", call.path.id);
  // Any other text than a number matches no version.
  if (version !== undefined)
    rows = rows.where("version", "=", /^[1-9][0-9]{0,14}$/.test(version) ? Number(version) : -1);
  if (deploymentId !== undefined) rows = rows.where("id", "=", deploymentId);
  const listed = await selectPage(rows.select("json"), call.page, byteLength(application.text));
  return { ...listed, rows: listed.rows.map((row) => deploymentText(row, application.text)) };
};

/** Lists applications, each with its newest deployment. */
export const listApps: Handler<"listApps"> = async ({ principal, query, page: wanted }, { store }) => {
  const visible = visibleWorkspaces(principal);
  let rows = store.read.selectFrom("applications");
  if (visible !== null || query.workspaceFqn !== undefined) {
    rows = rows.where("workspace_id", "in", ({ selectFrom }) => {
      let workspaces = selectFrom("workspaces").select("id");
      if (query.workspaceFqn !== undefined) workspaces = workspaces.where("fqn", "=", query.workspaceFqn);
      if (visible === null) return workspaces;
      return workspaces.where(({ or, eb }) =>
        or([eb("fqn", "in", visible.fqns), eb("cluster_id", "in", visible.clusters)]),
      );
    });
  }
  if (query.fqn !== undefined) rows = rows.where("fqn", "=", query.fqn);
  if (query.applicationType !== undefined) rows = rows.where("type", "=", query.applicationType);
  // The page is selected first, so that only its applications are joined with their deployments.
  const listed = newestFirst(rows.select(["id", "created_at", "json", "last_deployment_id"]), "", wanted);
  const found = await selectTextRows(
    store.read
      .selectFrom(listed.as("a"))
      .innerJoin("deployments as d", "d.id", "a.last_deployment_id")
      .select(["a.json as application", "d.json as deployment"])
      .orderBy("a.created_at", "desc")
      .orderBy("a.id", "desc"),
    { application: "a.json", deployment: "d.json" },
  );
  return {
    total: await countTotal(rows, wanted, found.length),
    rows: found.map(({ application, deployment }) => applicationText(application, deployment)),
  };
};
