import { expect, test } from "vitest";
import { foundations, model } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const local = "type: model-version\nname: local\nml_repo: registry\nsource: { type: local, file_or_folder: ./model }\n";

test("a model version with local files is valid, and blocked since upload is not supported yet; others are applied", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "model.yaml": model("ranker"), "local.yaml": local }, server);
  expect(await source.runHere(["validate"])).toMatchObject({ code: 0, stdout: "5 manifests in 5 files: valid\n" });
  const { stdout } = await source.runHere(["plan", "-o", "json"]);
  expect(JSON.parse(stdout).steps).toContainEqual(
    expect.objectContaining({ identity: "model-version/registry/local", action: "block", reason: "needs-upload" }),
  );
  const applied = await source.runHere(["apply", "--yes"]);
  expect(applied).toMatchObject({ code: 7, stdout: expect.stringContaining("upload is not supported yet") });
  expect(server.effects().map(({ resource }) => resource)).not.toContainEqual(expect.stringContaining("local"));
});
