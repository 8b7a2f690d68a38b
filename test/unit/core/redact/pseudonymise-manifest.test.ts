import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { pseudonymiseManifest, pseudonymiseName } from "../../../../src/core/redact/pseudonymise-manifest.ts";
import { kinds } from "../../../../src/kinds/index.ts";
import { shapeOf } from "../given.ts";

const digest = (text: string) => `digest${text.length}`;
const CANARY = "CANARY";

test("S78 no text of a free field, an unknown one or a description is in a stand-in, whatever the kind", () => {
  const unknown = fc.dictionary(
    fc.stringMatching(/^x_[a-z]{1,8}$/),
    fc.constantFrom<object | string>(CANARY, [CANARY], { a: CANARY }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...kinds), unknown, ({ type }, more) => {
      const texts = ["env", "labels", "tags", "description", "messages", "command", "kustomize", "values", "metadata"];
      const free = Object.fromEntries(
        texts.map((name) => [name, name === "messages" ? [{ content: CANARY }] : { KEY: CANARY, text: CANARY }]),
      );
      const manifest = { type, name: "a", ...free, ...more } as JsonObject;
      expect(JSON.stringify(pseudonymiseManifest(shapeOf(type), manifest, digest))).not.toContain(CANARY);
    }),
  );
});

test("names, references, numbers and typed texts are kept, and addresses are not", () => {
  const manifest = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    image: { type: "image", image_uri: "registry.example.com/api@sha256:abc", command: "run --key CANARY" },
    ports: [{ port: 8080, host: "api.example.com", expose: true }],
    replicas: 3,
    env: { LEVEL: "CANARY", KEY: "secret://tenant:group:key" },
  };
  const named = { ...manifest, env: { "https://u:CANARY@h.example": "x" } };
  expect(JSON.stringify(pseudonymiseManifest(shapeOf("service"), named, digest))).not.toContain("CANARY@");
  const shown = pseudonymiseManifest(shapeOf("service"), manifest, digest);
  expect(shown).toMatchObject({
    ...manifest,
    image: {
      type: "image",
      image_uri: "registry.example.com/api@sha256:abc",
      command: expect.stringMatching(/^stand-in:/),
    },
    env: { LEVEL: "stand-in:digest8", KEY: "secret://tenant:group:key" },
  });
  expect(pseudonymiseManifest(shapeOf("service"), { ...manifest, labels: null, replicas: null }, digest)).toMatchObject(
    {
      ...{ labels: null, replicas: null, ports: manifest.ports },
    },
  );
  const account = { type: "virtual-account", name: "ci", permissions: [{ role_id: "r", resource_fqn: "c1", note: 4 }] };
  expect(pseudonymiseManifest(shapeOf("virtual-account"), account, digest)).toEqual({
    ...account,
    permissions: [{ role_id: "r", resource_fqn: "c1", note: "stand-in:digest1" }],
  });
  expect(pseudonymiseName("plain name", digest)).toBe("plain name");
  expect(pseudonymiseName(`ghp_${"a".repeat(36)}`, digest)).toBe("stand-in:digest40");
  expect(pseudonymiseName("a@x.io, B@x.io", digest)).toBe("digest6@snapshot.invalid, digest6@snapshot.invalid");
  expect(pseudonymiseName("user:Ada.Byron@Corp.example", digest)).toBe("user:digest22@snapshot.invalid");
  expect(pseudonymiseName("https://ada:CANARY@git.example.com", digest)).not.toContain("CANARY");
});

test.each<[string, JsonObject, JsonObject]>([
  ["a field that is not known", { x: 4, y: null, z: ["a"] }, { x: "stand-in:digest1", y: null, z: "stand-in:digest5" }],
  ["a free value", { kustomize: { patch: { a: 1 } } }, { kustomize: { patch: "stand-in:digest7" } }],
  ["texts of a list", { ports: ["a", 1] }, { ports: ["stand-in:digest3", 1] }],
  ["names of variables", { env: { "a@x.io": "" } }, { env: { "digest6@snapshot.invalid": "stand-in:digest2" } }],
  ["no variables", { env: null }, { env: null }],
  ["a secret in a text", { service_account: "secret://t:g:k" }, { service_account: "secret://t:g:k" }],
])("a stand-in of %s", (_, fields, expected) => {
  expect(pseudonymiseManifest(shapeOf("service"), fields, digest)).toEqual(expected);
});

test("a manifest without the shape of an object keeps its names alone", () => {
  expect(pseudonymiseManifest({ is: "free" }, { name: "api", replicas: 2 }, digest)).toEqual({
    ...{ name: "api", replicas: "stand-in:digest1" },
  });
});
