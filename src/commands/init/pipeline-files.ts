import pipelines from "../generated/pipelines.json" with { type: "json" };
import type { NewFile } from "./starter-files.ts";

/** The CI services that there are files for; `shell` is for every other one. */
export const ciServices = ["github", "gitlab", "shell"] as const;

/** A CI service that there are files for. */
export type CiService = (typeof ciServices)[number];

/** The files of the pipelines: review of a change, apply after its merge, drift on a schedule. */
export function pipelineFiles(service: CiService): readonly NewFile[] {
  const copies = Object.entries(pipelines[service]).map(([path, text]) => ({
    path,
    text,
    isExecutable: service === "shell",
  }));
  return service === "gitlab" ? [{ path: ".gitlab-ci.yml", text: GITLAB }, ...copies] : copies;
}

const GITLAB = `stages: [test, deploy]
include:
  - local: .gitlab/holdfast.yml
    inputs:
      image: REGISTRY/holdfast@sha256:DIGEST
      server: https://platform.example.com
      writers: virtualaccount:ci-deployer
`;

/** What is still to be done by hand. */
export function pipelineNote(service: CiService): string {
  switch (service) {
    case "github":
      return "replace OWNER, COMMIT and DIGEST in .github/workflows, and set the variables and secrets that docs/pull-requests.md of Holdfast names";
    case "gitlab":
      return "correct image, server and writers in .gitlab-ci.yml, and set the variables that docs/pull-requests.md of Holdfast names";
    case "shell":
      return "call ci/holdfast-ci from the pipeline, as docs/pull-requests.md of Holdfast shows";
  }
}
