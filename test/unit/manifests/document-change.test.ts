import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { documentChange } from "../../../src/manifests/document-change.ts";
import { renameFqns } from "../../../src/model/rename-fqns.ts";
import { editDocument } from "../../../src/yaml/edit-document.ts";

const rename = { clusters: { dev: "live", old: "live" }, workspaces: { "c1:a": "c2:b" } };

const text = `# The first one.
type: workspace
name: a
---
$schema: ../service.json # for the editor
type: service
name: api
workspace_fqn: c1:a # of the team
replicas: 1
env: { HOST: "live:web", OTHER: "c1:a" }
mounts:
  - { type: volume, mount_path: /a, volume_fqn: "live:web:a" }
  - { type: volume, mount_path: /b, volume_fqn: "c1:a:b" }
`;

const { value: before } = renameFqns(
  {
    type: "service",
    name: "api",
    workspace_fqn: "c1:a",
    replicas: 1,
    env: { HOST: "live:web", OTHER: "c1:a" },
    mounts: [
      { type: "volume", mount_path: "/a", volume_fqn: "live:web:a" },
      { type: "volume", mount_path: "/b", volume_fqn: "c1:a:b" },
    ],
  },
  rename,
);

function edited(after: JsonObject): string | null {
  const change = documentChange({ text, format: "yaml" }, { line: 5, before, after }, rename);
  return change && editDocument(text, "yaml", change);
}

test("what does not change keeps its names, and what changes gets those of the document", () => {
  const mounts = [
    { type: "volume", mount_path: "/a", volume_fqn: "live:web:a" },
    { type: "volume", mount_path: "/b", volume_fqn: "c2:b:new" },
  ];
  expect(before.workspace_fqn).toBe("c2:b");
  expect(edited({ ...before, replicas: 2, mounts })).toBe(
    text.replace("replicas: 1", "replicas: 2").replace("c1:a:b", "c1:a:new"),
  );
});

test("a name that stands for several stays as it is", () => {
  const mounts = [{ type: "volume", mount_path: "/c", volume_fqn: "live:web:c" }];
  expect(edited({ ...before, mounts })).toContain('volume_fqn: "live:web:c"');
});

test("a removed field is removed, and a document that cannot be read is not changed", () => {
  const { env: _, ...after } = before;
  expect(edited(after)).toBe(text.replace(/env: .*\n/, ""));
  expect(documentChange({ text: "a: [", format: "yaml" }, { line: 1, before, after }, rename)).toBeNull();
});
