import { expect, test } from "vitest";
import { NO_SOURCE_FACTS } from "../../../src/cache/source-facts.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { type CommitSource, readSource } from "../../../src/source/read-source.ts";
import { createRemote } from "../../../src/source/remote/remote.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { team } from "../../support/manifests.ts";
import { upstreamOf } from "../../support/remote.ts";
import { signal } from "./source.ts";

test("F58 a commit that arrives while another one is read has no part in it", async () => {
  const upstream = await upstreamOf({ "ml.yaml": team("ml"), "holdfast.yaml": "external: [team/a]\n" });
  const folder = await temporaryFolder();
  const remote = createRemote({
    name: "platform",
    folder,
    address: { protocol: "file", url: upstream.folder },
    ref: "main",
    credentials: { username: null, tokenFile: null, sshKeyFile: null, tokenText: null },
    caFile: null,
    knownHosts: null,
    env: {},
  });
  const first = await upstream.git("rev-parse", "HEAD");
  const stop = { signal };
  const commits: CommitSource = {
    repository: remote.repository,
    resolve: async () => (await remote.fetch(stop)).commit,
    newest: () => null,
    keep: async () => {},
    kept: async () => null,
    onUnreadable: () => {},
  };
  const options = { root: folder, cwd: folder, base: null, limits: defaultLimits, commits };
  const settled = { ignore: [], remembered: NO_SOURCE_FACTS };
  using read = await readSource(
    options,
    // Once its configuration is read, the next commit is there and fetched.
    async () => {
      await upstream.commit({ "ml.yaml": team("ml", "bob@example.com"), "web.yaml": team("web") });
      await remote.fetch(stop);
      return settled;
    },
    stop,
  );
  expect(read.revision.commit).toBe(first);
  expect(read.revision.files.map(({ path }) => path)).toEqual(["ml.yaml"]);
  expect(Buffer.from(read.revision.files[0]?.bytes() ?? []).toString()).toBe(team("ml"));
  using next = await readSource({ ...options, before: read.revision }, async () => settled, stop);
  expect(next.revision.files.map(({ path }) => path)).toEqual(["ml.yaml", "web.yaml"]);
});
