import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { type Principal, systemPrincipal } from "../../../src/server/auth/principal.ts";
import { migrations } from "../../../src/server/database/migrations.ts";
import { newestFirst } from "../../../src/server/database/select-page.ts";
import type { Tables } from "../../../src/server/database/tables.ts";
import { selectApplications } from "../../../src/server/resources/application/resource.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";

const admin = systemPrincipal("admin");
const viewer: Principal = {
  ...admin,
  roles: [{ resourceType: "workspace", resourceFqn: "dev:web", roleId: "workspace-viewer" }],
};

test.each([
  { by: "who sees everything", principal: admin },
  { by: "who sees a workspace", principal: viewer },
])("the applications of a workspace are read in the order of an index of it, by $by", async ({ principal }) => {
  const path = join(await temporaryFolder(), "control-plane.db");
  await using store = await openSqliteStore<Tables>(path, migrations, machine);
  const filter = { workspaceFqn: "dev:web", applicationType: "service" };
  const rows = selectApplications(store.read, principal, filter).select("json");
  const { sql, parameters } = newestFirst(rows, "", { limit: 1000, offset: 4000 }).compile();
  using database = new DatabaseSync(path, { readOnly: true });
  const values = parameters.map((value) => value as string | number);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  const [first = ""] = plan.map(({ detail }) => String(detail));
  expect(first).toMatch(/^SEARCH applications USING .*INDEX \S+ \(workspace_id=\? AND type=\?\)$/);
  expect(plan.map(({ detail }) => detail)).not.toContain("USE TEMP B-TREE FOR ORDER BY");
});
