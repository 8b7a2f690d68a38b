import { account, type Files, foundations, model, prompt, service, team } from "../support/manifests.ts";
import type { ControlPlaneSort } from "./control-planes.ts";
import { runJudged, startTrial, type Trial } from "./trial.ts";

/** The files of the nth commit: a new resource of every kind, and a change of some that are there. */
function commit(nth: number): Files {
  return {
    ...foundations,
    "team.yaml": team("ml", `member-${nth}@example.com`),
    "services/worker.yaml": service("worker", `replicas: ${nth + 1}\n`),
    "registry/prompt.yaml": prompt("greeting", `Be kind, ${nth} times.`),
    [`accounts/${nth}.yaml`]: account(`ci-${nth}`),
    [`services/${nth}.yaml`]: service(`api-${nth}`),
    [`registry/model-${nth}.yaml`]: model(`ranker-${nth}`),
    [`platform/cluster-${nth}.yaml`]: `type: cluster\nname: dev-${nth}\ncluster_type: generic\n`,
    ...placesOf(nth),
  };
}

const placesOf = (nth: number): Files => ({
  [`platform/workspace-${nth}.yaml`]: `type: workspace\nname: web-${nth}\ncluster_fqn: dev\n`,
  [`platform/repo-${nth}.yaml`]: `type: ml-repo\nname: registry-${nth}\n`,
});

/** What the nth commit changes, the first one apart. */
export function wantedOf({ name }: ControlPlaneSort, nth: number): readonly string[] {
  return [
    ...["team/ml", "service/dev:web/worker", "chat_prompt/registry/greeting"],
    ...[`virtual-account/ci-${nth}`, `service/dev:web/api-${nth}`, `model-version/registry/ranker-${nth}`],
    `cluster/dev-${nth}`,
    ...(name === "documented-only" ? [] : [`workspace/dev:web-${nth}`, `ml-repo/registry-${nth}`]),
  ];
}

/** A control plane with the first commit on it. */
export async function startWorld(sort: ControlPlaneSort): Promise<Trial> {
  const trial = await startTrial("the first commit", sort, withoutUnwritable(sort, commit(0)));
  const { ended } = await runJudged(trial);
  if (ended.code !== 0) throw new Error(`the first commit is not applied: ${ended.stdout}${ended.stderr}`);
  return trial;
}

// Workspaces and ml repos cannot be made there.
function withoutUnwritable({ name }: ControlPlaneSort, files: Files): Files {
  if (name !== "documented-only") return files;
  return Object.fromEntries(Object.entries(files).filter(([file]) => !/platform\/(?:workspace|repo)-/.test(file)));
}

/** Lays the files of the nth commit out. */
export async function lay({ source, sort }: Pick<Trial, "source" | "sort">, nth: number): Promise<void> {
  for (const [file, text] of Object.entries(withoutUnwritable(sort, commit(nth)))) await source.write(file, text);
}
