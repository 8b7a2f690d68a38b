import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../../src/contract/secret.ts";
import { sink as kubernetes } from "../../../../src/engine/sinks/kubernetes.ts";
import type { Sink, SinkSettings } from "../../../../src/engine/token-sink.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { startKubernetes } from "../../../support/token-stores/kubernetes.ts";

async function opened(settings: SinkSettings, env = {}): Promise<Sink & { readonly folder: string }> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "account-token"), "account-token\n");
  const place = { folder, server: "platform.example.com_443", settings, cwd: folder, env, ...machine };
  return { ...kubernetes.open(place), folder };
}

const settings = { tokenFile: "account-token", namespace: "tokens" };

// The API of Kubernetes is a double here, written from its documentation.
describe("the sink kubernetes", () => {
  test("creates a Secret of its own for each token, labelled, with its account in an annotation", async () => {
    const { url, caFile, manifests, seen } = await startKubernetes();
    const sink = await opened({ ...settings, url, caFile });
    const name = "platform.example.com-443.virtual-account.ci";
    expect(await sink.deliver("virtual-account/ci", new Secret("CANARY"))).toBe(`the Secret tokens/${name}`);
    expect(manifests).toEqual([
      {
        apiVersion: "v1",
        kind: "Secret",
        type: "Opaque",
        metadata: {
          name,
          labels: { "app.kubernetes.io/managed-by": "holdfast" },
          annotations: {
            "holdfast.dev/server": "platform.example.com_443",
            "holdfast.dev/identity": "virtual-account/ci",
          },
        },
        data: { token: Buffer.from("CANARY").toString("base64") },
      },
    ]);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/namespaces/tokens/secrets",
      `GET /api/v1/namespaces/tokens/secrets/${name}`,
    ]);
  });

  test("reads the service account's token again for each request, since the kubelet replaces it", async () => {
    const { url, caFile, seen } = await startKubernetes();
    const sink = await opened({ ...settings, url, caFile });
    await sink.check("virtual-account/ci");
    await writeFile(join(sink.folder, "account-token"), "replaced");
    await expect(sink.deliver("virtual-account/ci", new Secret("CANARY"))).rejects.toThrow(
      "(401): the token of the service account is not valid",
    );
    expect(seen.at(-1)?.headers.authorization).toBe("Bearer replaced");
  });

  test("says what is wrong in plain words", async () => {
    const { url, caFile, fault } = await startKubernetes();
    const sink = await opened({ ...settings, url, caFile });
    fault("full");
    await expect(sink.deliver("virtual-account/ci", new Secret("CANARY"))).rejects.toThrow(
      "Kubernetes refused to create a Secret in the namespace tokens (403): a quota of the namespace is used up",
    );
    fault("refused");
    await expect(sink.deliver("virtual-account/ci", new Secret("CANARY"))).rejects.toThrow(
      "(403): the service account may not create Secrets there",
    );
    const elsewhere = await opened({ ...settings, namespace: "other", url, caFile });
    await expect(elsewhere.check("virtual-account/ci")).rejects.toThrow("(404): there is no such namespace");
  });

  test("finds the API by the environment of a pod, and needs an address elsewhere", async () => {
    const { url, caFile, values } = await startKubernetes();
    const { hostname, port } = new URL(url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    await (await opened({ ...settings, caFile }, env)).deliver("virtual-account/ci", new Secret("CANARY"));
    expect(values.size).toBe(1);
    await expect(opened(settings)).rejects.toThrow("nothing says where the API of Kubernetes is");
  });
});
