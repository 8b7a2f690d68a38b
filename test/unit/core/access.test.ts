import { describe, expect, test } from "vitest";
import { readAccess } from "../../../src/core/access.ts";
import { missingRoleToWrite, roleThatWrites, showsTenant, sightOf, unseenBy } from "../../../src/core/sight.ts";
import { kindsByType } from "../../../src/kinds/index.ts";

describe("the roles of a token", () => {
  const role = { role: "cluster-viewer", resourceType: "cluster", resourceFqn: "c1" };
  const caller = { tenantName: "acme", subject: "user:ada@x.io", roles: [role] };
  const read = { role_id: "cluster-viewer", resource_type: "cluster", resource_fqn: "c1" };

  test("are read from what the control plane says of the caller", () => {
    expect(readAccess(caller)).toEqual({ tenant: "acme", subject: "user:ada@x.io", roles: [read], more_roles: 0 });
    expect(readAccess({ ...caller, roles: [] })?.roles).toEqual([]);
  });

  test.each<[string, unknown]>([
    ["no object", null],
    ["no roles", { ...caller, roles: undefined }],
    ["no tenant", { ...caller, tenantName: 7 }],
    ["no subject", { ...caller, subject: undefined }],
    ["a role that is no object", { ...caller, roles: [role, "x"] }],
    ["a role without a name", { ...caller, roles: [{ ...role, role: undefined }] }],
    ["a role without a type", { ...caller, roles: [{ ...role, resourceType: undefined }] }],
    ["a role on nothing", { ...caller, roles: [{ ...role, resourceFqn: undefined }] }],
  ])("are not known from %s", (_, given) => {
    expect(readAccess(given)).toBeNull();
  });

  const access = (role_id: string, resource_type = "tenant", resource_fqn = "acme") => ({
    ...{ tenant: "acme", subject: "user:ada@x.io", more_roles: 0 },
    roles: [{ role_id, resource_type, resource_fqn }],
  });

  test("say what is not seen", () => {
    expect(unseenBy(null)).toBe("what the token may not see: this control plane does not tell its roles");
    expect(unseenBy(access("tenant-admin"))).toBeNull();
    expect(unseenBy(access("tenant-member"))).toBe(
      "what the roles of user:ada@x.io do not show (tenant-viewer on tenant acme would show everything)",
    );
    expect(unseenBy(access("custom"))).toBe(
      "what the roles of user:ada@x.io do not show (tenant-viewer on the tenant would show everything)",
    );
    expect(sightOf(null)).toBeNull();
    expect(sightOf(access("custom", "cluster", "c1"))).toEqual({
      ...{ tenant: "acme", roles: [{ roleId: "custom", resourceType: "cluster", resourceFqn: "c1" }] },
    });
    expect([showsTenant(null), showsTenant(sightOf(access("tenant-viewer")))]).toEqual([false, true]);
  });

  test.each<[ReturnType<typeof access> | null, string, string | null]>([
    [access("tenant-admin"), "team/ml", null],
    [access("tenant-viewer"), "team/ml", "tenant-admin on tenant acme"],
    [access("custom", "workspace", "c1:ws1"), "team/ml", null],
    [access("workspace-editor", "workspace", "c1:ws1"), "service/c1:ws1/api", null],
    [access("workspace-viewer", "workspace", "c1:ws1"), "service/c1:ws1/api", "workspace-editor on workspace c1:ws1"],
    [access("workspace-editor", "workspace", "c1:ws1"), "workspace/c1:ws1", "workspace-admin on workspace c1:ws1"],
    [null, "team/ml", null],
    [null, "service/c1:ws1/api", "workspace-editor on workspace c1:ws1"],
  ])("of %j lack for a write of %s: %s", (given, identity, missing) => {
    expect(missingRoleToWrite(given, identity, kindsByType)).toBe(missing);
  });

  test("that may write the tenant are those of its administrators", () => {
    expect(roleThatWrites("acme", "secret-group/db", kindsByType)).toBe("tenant-admin on tenant acme");
  });
});
