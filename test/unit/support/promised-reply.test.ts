import { expect, test } from "vitest";
import { expectPromised } from "../../support/promised-reply.ts";

const lease = { scope: "c1", holder: "h", fencingToken: 1, expiresAt: "2026-11-22T00:00:00.000Z" };
const put = (data: object, status = 200) =>
  expectPromised({ method: "PUT", path: "/api/svc/v1/leases/c1", status, type: "application/json", body: { data } });

test("a reply that lacks a required member, or has one of another type, fails the test that asked for it", () => {
  expect(() => put(lease)).not.toThrow();
  expect(() => put({ ...lease, holder: undefined })).toThrow(/required property 'holder'/);
  expect(() => put({ ...lease, fencingToken: "1" })).toThrow("against its document");
  expect(() => put(lease, 201)).toThrow("never answers 201");
});
