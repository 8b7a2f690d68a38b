import { account, type Files, foundations, prompt, service, team } from "../support/manifests.ts";
import { RESOURCES } from "./script.ts";

/** A mark that stands for a content: `c` for one that a commit has, `p` for one that a person has written. */
export type Mark = string;

/** What a commit declares: the mark of each resource, null where its manifest is invalid; absent where it declares none. */
export type Declared = ReadonlyMap<string, Mark | null>;

/** The resources that always stay the same, each of which is made once. */
export const CONSTANT = [
  "cluster/dev",
  "workspace/dev:web",
  "ml-repo/registry",
  "ml-repo/one",
  "ml-repo/two",
  "ml-repo/three",
  "ml-repo/four",
  "virtual-account/ci",
] as const;

/** A prompt that somebody else manages, where the world is limited. */
export const FOREIGN = "chat_prompt/registry/theirs";

/** What the daemons do not see, where the world is limited. */
export const UNSEEN = ["team/ml", "ml-repo/four", "virtual-account/ci"] as const;

/** The permissions of the daemons, where the world is limited. */
export const LIMITED_PERMISSIONS = [
  ["cluster", "dev", "cluster-viewer"],
  ["workspace", "dev:web", "workspace-editor"],
  ...["registry", "one", "two", "three"].map(
    (name) => ["ml-repo", `ml-repo:holdfast/${name}`, "ml-repo-admin"] as const,
  ),
].map(([resource_type, resource_fqn, role_id]) => ({ resource_type, resource_fqn, role_id }));

/** The files of a commit; without the most of what is constant for one that is refused. */
export function filesOf(declared: Declared, isRefused = false): Files {
  const files: { [file: string]: string } = { ...foundations };
  if (!isRefused) {
    files["account.yaml"] = account("ci");
    for (const name of ["one", "two", "three", "four"]) files[`repos/${name}.yaml`] = `type: ml-repo\nname: ${name}\n`;
  }
  for (const [identity, mark] of declared) files[`${identity}.yaml`.replaceAll(":", "_")] = textOf(identity, mark);
  return files;
}

function textOf(identity: string, mark: Mark | null): string {
  const name = identity.slice(identity.lastIndexOf("/") + 1);
  // Valid YAML: a file that is none is read by a process of its own.
  if (mark === null) return `type: ${identity.slice(0, identity.indexOf("/"))}\nname: ${name}\nmembers: 7\nports: 7\n`;
  if (identity.startsWith("service/")) return service(name, `env:\n  MARK: mark-${mark}-\n`);
  if (identity.startsWith("chat_prompt/")) return prompt(name, `mark-${mark}-`);
  return team(name, `mark-${mark}-@example.com`);
}

/** The mark in a resource as the control plane has it. */
export function markIn(text: string): Mark | null {
  return /mark-([a-z]\d+)-/.exec(text)?.[1] ?? null;
}

/** The request with which a person writes a resource. */
export function editOf(
  identity: string,
  mark: Mark,
  workspaceId: string,
): { readonly path: string; readonly body: object } | null {
  const name = identity.slice(identity.lastIndexOf("/") + 1);
  if (identity.startsWith("service/")) {
    const manifest = {
      type: "service",
      name,
      workspace_fqn: "dev:web",
      image: { type: "image", image_uri: `registry.example.com/${name}:1.0.0` },
      ports: [{ port: 8080 }],
      env: { MARK: `mark-${mark}-` },
    };
    return { path: "/api/svc/v1/apps", body: { manifest, workspaceId } };
  }
  if (identity.startsWith("chat_prompt/")) {
    const messages = [{ role: "system", content: `mark-${mark}-` }];
    return {
      path: "/api/ml/v1/prompt-versions",
      body: { manifest: { type: "chat_prompt", name, ml_repo: "registry", messages } },
    };
  }
  return {
    path: "/api/svc/v1/teams",
    body: { manifest: { type: "team", name, members: [`mark-${mark}-@example.com`] } },
  };
}

/** What a first commit declares. */
export function firstDeclared(): Declared {
  return new Map(RESOURCES.map((identity, nth) => [identity, `c${nth + 1}`]));
}
