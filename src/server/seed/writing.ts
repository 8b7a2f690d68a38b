import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import { innerPrincipal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { giveToAccount } from "../resources/secret-group/rows.ts";
import { builtinPath } from "../resources/virtual-account/account.ts";

/** Who seeds. */
export const seeder = innerPrincipal("seed");

/** One call that answers whether a manifest's resource exists. */
export type Question = {
  readonly operation: OperationName;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly body: JsonObject | undefined;
  /** Reads the answer from the reply. */
  readonly exists: (reply: Json) => boolean;
};

/** How a type of manifest is written, and what to ask before. */
export type Writing = {
  readonly operation: OperationName;
  readonly question: (manifest: JsonObject) => Question;
  /** What has to be done before it is asked and written. */
  readonly prepare?: (manifest: JsonObject, context: Context) => Promise<void>;
};

/** The writing of each type that can be seeded. */
export const writings: ReadonlyMap<string, Writing> = new Map([
  ["cluster", rehearsed("putCluster")],
  ["workspace", rehearsed("putWorkspace")],
  ["team", rehearsed("putTeam")],
  ["sso-team", rehearsed("putTeam")],
  ["virtual-account", { ...rehearsed("putVirtualAccount"), prepare: takeSecret }],
  ["ml-repo", rehearsed("putMlRepo")],
  ["service", rehearsed("putApp")],
  ["model-version", versioned("putModelVersion", "listModelVersions", "model")],
  ["secret-group", { operation: "putSecretGroup", question: askForGroup }],
  ["chat_prompt", versioned("putPromptVersion", "listPromptVersions", "chat_prompt")],
]);

// A rehearsal of something new has no id; a deployment never has one, but an application's id when that exists.
function rehearsed(operation: OperationName): Writing {
  return {
    operation,
    question: (manifest) => ({
      operation,
      query: new Map(),
      body: { manifest, dryRun: true },
      exists: (reply) => {
        const data = isObject(reply) && isObject(reply.data) ? reply.data : {};
        return typeof (operation === "putApp" ? data.applicationId : data.id) === "string";
      },
    }),
  };
}

// A folder may hold the secret that an account keeps its token in: it is the account's from the beginning.
async function takeSecret(manifest: JsonObject, context: Context): Promise<void> {
  const [account, path] = [text(manifest.name), builtinPath(manifest)];
  if (account === undefined || path === null) return;
  await context.store.write((transaction) => giveToAccount(transaction, { account, path, maker: seeder }));
}

// What exists keeps its values: they may have been replaced since.
function askForGroup(manifest: JsonObject): Question {
  return {
    operation: "listSecretGroups",
    query: new Map([["fqn", [`${tenant}:${text(manifest.name)}`]]]),
    body: undefined,
    exists: isListed,
  };
}

function isListed(reply: Json): boolean {
  return isObject(reply) && Array.isArray(reply.data) && reply.data.length > 0;
}

function versioned(operation: OperationName, list: OperationName, scheme: string): Writing {
  return {
    operation,
    question: (manifest) => ({
      operation: list,
      // A manifest without a number names them all: whether there is any is whether there is a first.
      query: new Map([
        ["fqn", [`${scheme}:${tenant}/${text(manifest.ml_repo)}/${text(manifest.name)}:${manifest.version ?? 1}`]],
      ]),
      body: undefined,
      exists: isListed,
    }),
  };
}
