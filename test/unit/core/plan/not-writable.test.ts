import { expect, test } from "vitest";
import type { Access } from "../../../../src/core/access.ts";
import { notWritable } from "../../../../src/core/plan/not-writable.ts";
import type { Step } from "../../../../src/core/plan/plan.ts";
import { kindsByType } from "../../../../src/kinds/index.ts";
import { present } from "../given.ts";

const access = (subject: string): Access => ({ tenant: "acme", subject, roles: [], more_roles: 0 });

function updateOf(identity: string): Step {
  const place = { kind: "team", file: "team.yaml", line: 1, wave: 0 };
  const nothing = { changes: [], patch: [], reason: null, risks: [], causedBy: null };
  return { identity, action: "update", ...place, ...nothing };
}

test("a manager of a team may write it without a role, and nobody else", () => {
  const steps = [updateOf("team/ml"), updateOf("team/web")];
  const live = new Map([["team/ml", present({ type: "team", name: "ml", managers: ["Ann@example.com"] })]]);
  const lackedBy = (subject: string) => notWritable({ steps }, { access: access(subject), live, kinds: kindsByType });
  const role = "tenant-admin on tenant acme";
  expect(lackedBy("user:ann@example.com")).toEqual([{ role, identities: ["team/web"] }]);
  expect(lackedBy("user:eve@example.com")).toEqual([{ role, identities: ["team/ml", "team/web"] }]);
  expect(notWritable({ steps }, { access: null, live, kinds: kindsByType })).toEqual([]);
});
