import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const API = "service/dev:web/api";

/** A daemon whose only target follows the folder `ml` of a repository, and whose first rollout goes on for a minute. */
async function rollingOut() {
  const server = await serve([], { rolloutSeconds: 60 });
  const files = Object.fromEntries(Object.entries(everyKind).map(([file, text]) => [`ml/${file}`, text]));
  const upstream = await upstreamOf({ ...files, "web/notes.md": "one\n" });
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const targets = [{ name: "prod", interval: 0.3, paths: ["ml"] }];
  const operator = await operatorOf({ sources: [source], targets }, server);
  const daemon = operator.start(["watch", "--sink", "file", "-o", "json"]);
  await eventually("the deployment", () => server.effects().find(({ resource }) => resource === API));
  const history = async (...args: readonly string[]) =>
    JSON.parse((await operator.run(["history", ...args, "-o", "json"])).stdout).targets[0];
  return { server, upstream, daemon, history };
}

test("a commit that changes nothing for a target is recorded at once, while a rollout goes on", async () => {
  const { upstream, history } = await rollingOut();
  const commit = await upstream.commit({ "web/notes.md": "two\n" });
  const record = await eventually("the record", async () =>
    (await history()).passes.find((pass: { readonly commit: string }) => pass.commit === commit),
  );
  expect(record).toMatchObject({ result: "applied", reason: null, counts: { created: 0, updated: 0, failed: 0 } });
  expect((await history(API)).events).toMatchObject([{ state: "created", rollout: "progressing" }]);
});

test("a rollout that a newer commit replaces is superseded, with its last status in the history", async () => {
  const { upstream, daemon, history } = await rollingOut();
  const [first] = (await upstream.git("rev-parse", "HEAD")).split("\n");
  await upstream.commit({ "ml/services/api.yaml": service("api", "replicas: 3\n") });
  await daemon.shows("stdout", /"event":"rollout".*"message":"rollout superseded at (INITIALIZED|BUILD|ROLLOUT)/);
  const isEnd = ({ commit, rollout }: { readonly commit: string; readonly rollout: string }): boolean =>
    commit === first && rollout !== "progressing";
  const event = await eventually("the event", async () => (await history(API)).events.find(isEnd));
  expect(event).toMatchObject({ commit: first, state: "created", rollout: "superseded", why: null });
  expect(event.rolloutStatus).toMatch(/^(INITIALIZED|BUILD|ROLLOUT)/);
});

test("an apply waits no longer for a rollout that another writer has replaced, and that is no failure", async () => {
  const server = await serve([], { rolloutSeconds: 60 });
  const source = await sourceOf(everyKind, server);
  const apply = source.start(["apply", "--yes", "-o", "json"]);
  await eventually("the deployment", () => server.effects().find(({ resource }) => resource === API));
  await replaceDeployment(server);
  const ended = await apply.ended;
  const outcome = reportOf(ended).outcomes.find(({ identity }) => identity === API);
  expect(outcome).toMatchObject({ result: "created", rollout: "superseded", rolloutStatus: "CANCELLED", error: null });
  expect(ended.code).toBe(0);
});

async function replaceDeployment({ call }: Server): Promise<void> {
  const manifest = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    image: { type: "image", image_uri: "registry.example.com/api:2" },
  };
  await call("PUT", "/api/svc/v1/apps", { manifest, forceDeploy: true });
}
