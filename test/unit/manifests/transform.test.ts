import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import type { LoadRules } from "../../../src/manifests/load-manifests.ts";
import { NO_PATCHES } from "../../../src/manifests/read-patches.ts";
import { transformOf } from "../../../src/manifests/transform.ts";
import { brief, loadFiles } from "../source/source.ts";

const withWorkspace = (workspace: string): LoadRules => ({ defaults: { workspace_fqn: workspace } });

const foundations = {
  "cluster.yaml": "type: cluster\nname: dev\ncluster_type: generic\n",
  "workspaces.yaml":
    "type: workspace\nname: web\ncluster_fqn: dev\n---\ntype: workspace\nname: batch\ncluster_fqn: dev\n",
};
const service = "type: service\nname: api\nimage: { type: image, image_uri: r/api:1 }\n";

function manifestOf(document: JsonObject, rules: LoadRules): JsonObject {
  const kind = kindOf(String(document.type));
  if (kind === undefined) throw new TypeError(`no kind ${document.type}`);
  return transformOf(rules, NO_PATCHES).manifestOf(kind, document);
}

test("a manifest has the default workspace where its kind takes one and its document names none", () => {
  const rules = withWorkspace("dev:web");
  const named = { type: "service", name: "api", workspace_fqn: "dev:batch" };
  expect(manifestOf({ type: "service", name: "api" }, rules)).toMatchObject({ workspace_fqn: "dev:web" });
  expect(manifestOf({ type: "service", name: "api", workspace_fqn: null }, rules)).toMatchObject({
    workspace_fqn: "dev:web",
  });
  expect(manifestOf(named, rules)).toBe(named);
  expect(manifestOf({ type: "team", name: "ml" }, rules)).toEqual({ type: "team", name: "ml" });
});

test("a manifest lacks the schema that its document names for an editor", () => {
  expect(manifestOf({ $schema: "https://x.io/team.json", type: "team", name: "ml" }, {})).toEqual({
    type: "team",
    name: "ml",
  });
});

test("what a transform depends on is its key, which the digests of manifests contain", async () => {
  expect(transformOf({}, NO_PATCHES).key).toBe("");
  expect(transformOf(withWorkspace("dev:web"), NO_PATCHES).key).not.toBe(
    transformOf(withWorkspace("dev:batch"), NO_PATCHES).key,
  );
  const digestsWith = async (workspace: string) => {
    const { manifests } = await loadFiles({ ...foundations, "api.yaml": service }, withWorkspace(workspace));
    return manifests.map(({ digest }) => digest);
  };
  const [web, batch] = [await digestsWith("dev:web"), await digestsWith("dev:batch")];
  expect(web).toHaveLength(4);
  expect(new Set(web).isDisjointFrom(new Set(batch))).toBe(true);
  expect(await digestsWith("dev:web")).toEqual(web);
});

test("a field that a document does not have is reported at the start of that document", async () => {
  const team = "type: team\nname: ml\nmembers: [a@x.io]\n";
  const files = { ...foundations, "apps.yaml": `${team}---\n${service}` };
  const { diagnostics } = await loadFiles(files, withWorkspace("dev:gone"));
  expect(brief(diagnostics)).toEqual(["apps.yaml:5:1 error undeclared-reference"]);
});
