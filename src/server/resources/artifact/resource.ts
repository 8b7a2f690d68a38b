// src/server/resources/artifact: model versions and prompts. See docs/architecture.md#a-new-resource-of-the-control-plane.

import { notFound } from "../../../http/http-error.ts";
import { toText, withMember } from "../../database/json-text.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import type { ReferenceSection, ResourceDefinition } from "../../resource.ts";
import { visibleRepos } from "../ml-repo.ts";
import { findArtifactById, listSteps } from "./rows.ts";

const getArtifact: Handler<"getArtifact"> = async ({ principal, path: { id } }, { store }) => {
  const found = await findArtifactById(store.read, id, visibleRepos(principal));
  if (found === null) throw notFound("the artifact");
  const { artifact, latest } = found;
  const steps = await listSteps(store.read, id);
  return {
    data: withMember(
      latest === null ? artifact : withMember(artifact, "latest_version", latest),
      "run_steps",
      toText(steps),
    ),
  };
};

/** The section of artifacts in the reference. */
export const artifactsSection: ReferenceSection = {
  name: "Artifacts",
  description: "Artifacts, whose versions are models, prompts or files, and the staging of files.",
};

/** Reads an artifact, which all versions of a model, prompt or file set belong to. */
export const resource: ResourceDefinition = {
  section: artifactsSection,
  operations: [
    defineOperation("getArtifact", getArtifact, {
      description: "`id` is the `artifact_id`, `model_id` or `prompt_id` of a version.",
      replySchema: "Artifact",
      parameters: { id: { description: "Id of the artifact", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" } },
    }),
  ],
};
