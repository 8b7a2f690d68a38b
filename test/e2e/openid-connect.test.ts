import { expect, test } from "vitest";
import { signInAs, startOidcIssuer } from "../support/oidc-issuer.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

test("a person of an issuer is told which role comes through which team and group", async () => {
  const issuer = await startOidcIssuer();
  issuer.persons.set("ada", { groups: ["ml"] });
  const oidc = ["--oidc-issuer", issuer.url, "--oidc-audience", issuer.audience, "--oidc-groups-claim", "groups"];
  const server = await serve(oidc);
  const files = {
    "team.yaml": "type: team\nname: ml\nmembers: [other@example.com]\n",
    "cluster.yaml":
      "type: cluster\nname: c1x\ncluster_type: generic\ncollaborators: [{ subject: 'team:ml', role_id: cluster-viewer }]\n",
  };
  const source = await sourceOf(files, server);
  expect(await source.runHere(["apply", "--yes", "--allow-privilege"])).toMatchObject({ code: 0 });
  const HOLDFAST_TOKEN = (await signInAs(issuer, "ada")).open();
  const text = await source.runHere(["whoami"], { HOLDFAST_TOKEN });
  expect(text.stdout).toContain("cluster-viewer on cluster c1x through team:ml, by the group ml\n");
  const report = JSON.parse((await source.runHere(["whoami", "-o", "json"], { HOLDFAST_TOKEN })).stdout);
  expect(report).toMatchObject({ subject: "user:ada@example.com", roles: [{ through: "team:ml", group: "ml" }] });
});

test("serve names what is wrong with its issuer", async () => {
  const source = await sourceOf({});
  const issuer = "https://id.example.com";
  for (const [args, message] of [
    [["--oidc-issuer", issuer], "belong together"],
    [["--oidc-audience", "a"], "belong together"],
    [["--oidc-groups-claim", "groups"], "belong together"],
    [["--oidc-issuer", "http://id.example.com", "--oidc-audience", "a"], "without TLS"],
    [["--oidc-issuer", "id.example.com", "--oidc-audience", "a"], "the address of the issuer"],
    [["--oidc-issuer", issuer, "--oidc-audience", "a", "--ca-file", "absent.pem"], "the CA file"],
  ] as const) {
    const ended = await source.runHere(["serve", "--port", "0", ...args]);
    expect([args, ended.code, ended.stderr]).toEqual([args, 3, expect.stringContaining(message)]);
  }
});
