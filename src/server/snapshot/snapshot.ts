import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Context } from "../context.ts";
import { recordEffect } from "../database/audit.ts";
import type { Tables } from "../database/tables.ts";
import { copyApplication } from "../resources/application/snapshot.ts";
import { copyVersion } from "../resources/artifact/snapshot.ts";
import { promptKind } from "../resources/chat_prompt.ts";
import { clusterKind } from "../resources/cluster.ts";
import { mlRepoKind } from "../resources/ml-repo.ts";
import { modelKind } from "../resources/model-version.ts";
import { giveToAccount } from "../resources/secret-group/rows.ts";
import { copyGroup, copyPlaceholder, secretFqns } from "../resources/secret-group/snapshot.ts";
import { teamKind } from "../resources/team.ts";
import { builtinPath } from "../resources/virtual-account/account.ts";
import { copyAccount } from "../resources/virtual-account/snapshot.ts";
import { workspaceKind } from "../resources/workspace.ts";
import { type Copied, copier } from "./copied.ts";
import { copyDeclared } from "./declared.ts";
import type { Snapshot } from "./seen.ts";

type Copy<Row> = (transaction: Transaction<Tables>, row: Row, context: Context) => Promise<Copied>;

// As many as share a commit.
const AT_ONCE = 100;

/**
 * Copies what is absent here: rows keep their ids, versions, moments and makers; no token and no secret value comes with
 * them. Answers what could not be copied, and why.
 */
export async function copySnapshot(snapshot: Snapshot, context: Context): Promise<readonly string[]> {
  const all = async <Row>(
    operation: OperationName,
    rows: readonly Row[],
    nameOf: (row: Row) => string,
    copy: Copy<Row>,
  ) => {
    const refused: string[] = [];
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const written = rows.slice(at, at + AT_ONCE).map(async (row) => {
        const copied = await context.store.write((transaction) =>
          copyRow(transaction, { operation, row, copy }, context),
        );
        if (copied.result === "refused") refused.push(`${nameOf(row)}: ${copied.why}`);
      });
      await Promise.all(written);
    }
    return refused;
  };
  const { applications } = snapshot;
  const refused = [
    ...(await all("putCluster", snapshot.clusters, named("cluster"), copyDeclared(clusterKind))),
    ...(await all("putWorkspace", snapshot.workspaces, named("workspace"), copyDeclared(workspaceKind))),
    ...(await all("putTeam", snapshot.teams, named("team"), copyDeclared(teamKind))),
    ...(await all("putVirtualAccount", snapshot.virtualAccounts, named("virtual-account"), copyAccount)),
    ...(await all("putMlRepo", snapshot.mlRepos, named("ml-repo"), copyDeclared(mlRepoKind))),
    ...(await all("putModelVersion", snapshot.modelVersions, named("model-version"), copyVersion(modelKind))),
    ...(await all("putPromptVersion", snapshot.promptVersions, named("chat_prompt"), copyVersion(promptKind))),
    ...(await all("putSecretGroup", snapshot.secretGroups, named("secret-group"), copyGroup)),
    ...(await all("putSecretGroup", secretFqns(snapshot), (fqn) => `secret/${fqn}`, copyPlaceholder)),
    ...(await all("putApp", applications, ({ application }) => named("application")(application), copyApplication)),
  ];
  await context.store.write((transaction) => giveSecrets(transaction, snapshot));
  return refused;
}

// The secret that an account keeps its token in is its own here too.
async function giveSecrets(transaction: Transaction<Tables>, { virtualAccounts }: Snapshot): Promise<void> {
  for (const { name, manifest } of virtualAccounts) {
    const declared = isObject(manifest) ? manifest : {};
    const [account, path] = [text(declared.name) || text(name), builtinPath(declared)];
    if (account && path !== null) await giveToAccount(transaction, { account, path, maker: copier });
  }
}

type Task<Row> = { readonly operation: OperationName; readonly row: Row; readonly copy: Copy<Row> };

async function copyRow<Row>(
  transaction: Transaction<Tables>,
  { operation, row, copy }: Task<Row>,
  context: Context,
): Promise<Copied> {
  const copied = await copy(transaction, row, context);
  if (copied.result === "copied") {
    await recordEffect(transaction, context, { principal: copier, operation, resource: copied.resource });
  }
  return copied;
}

function named(kind: string): (row: JsonObject) => string {
  return (row) => `${kind}/${text(row.fqn) ?? text(row.name) ?? text(row.id) ?? "without a name"}`;
}
