import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { TOLD_ADDRESS } from "../support/served-files.ts";
import { databaseOf } from "../support/test-database.ts";

const manifest = (more: object = {}) => ({
  manifest: { type: "model-version", name: "ranker", ml_repo: "support", ...more },
});

test("servers that share a database and a folder take and answer the files of one stage together", async () => {
  const [data, artifactFolder] = [await temporaryFolder(), await temporaryFolder()];
  const shared = {
    database: new Secret((await databaseOf(data)) ?? ""),
    serverKey: new Secret(randomBytes(32).toString("base64")),
    adminToken: new Secret("of-both-of-the-servers"),
    artifactRoot: TOLD_ADDRESS,
    artifactFolder,
  };
  const servers = [
    await startControlPlane({ ...shared, data: join(data, "one") }),
    await startControlPlane({ ...shared, data: join(data, "two") }),
  ];
  const [one, two] = servers.map(({ url }) => ({ url, admin: caller(url, shared.adminToken) }));
  if (one === undefined || two === undefined) throw new TypeError("there are two servers");
  await one.admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  const { id, storage_root: uri } = (await one.admin.post("/api/ml/v1/artifact-versions/stage", manifest())).body;
  const at = ({ url }: { readonly url: string }, path: string) => `${uri.replace(TOLD_ADDRESS, url)}/${path}`;

  // Every second one of each path, so that most of them meet another on the other server.
  const contents = Array.from({ length: 16 }, () => randomBytes(100_000));
  const replies = await Promise.all(
    contents.map((body, nth) =>
      fetch(at(nth % 2 === 0 ? one : two, `part-${Math.floor(nth / 4)}`), { method: "PUT", body }),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(contents.map(() => 200));
  for (let part = 0; part < 4; part += 1) {
    const [here, there] = await Promise.all(
      [one, two].map(async (server) => Buffer.from(await (await fetch(at(server, `part-${part}`))).arrayBuffer())),
    );
    expect(here?.equals(there ?? Buffer.alloc(0))).toBe(true);
    expect(contents.slice(part * 4, part * 4 + 4).some((content) => content.equals(here ?? Buffer.alloc(0)))).toBe(
      true,
    );
  }
  const { pagination } = (await (await fetch(at(two, ""))).json()) as {
    readonly pagination: { readonly total: number };
  };
  expect([pagination.total, (await readdir(join(artifactFolder, id))).length]).toEqual([4, 4]);

  const source = { type: "platform", uri };
  expect((await two.admin.put("/api/ml/v1/model-versions", manifest({ source }))).body.data.id).toBe(id);
  expect((await fetch(at(one, "late"), { method: "PUT", body: "x" })).status).toBe(409);
});
