import { expect, test } from "vitest";
import { parseQueryText } from "../../../src/http/parse-query.ts";
import { readBody, readPageRequest, readQuery } from "../../../src/server/http/read-request.ts";

const refused = expect.objectContaining({ status: 400 });

test("a page has its defaults and its limits", () => {
  expect(readPageRequest(parseQueryText(""))).toEqual({ limit: 100, offset: 0 });
  expect(readPageRequest(parseQueryText("limit=1000&offset=9007199254740991&x=1"))).toEqual({
    limit: 1000,
    offset: 9007199254740991,
  });
});

test.each([
  "limit=0",
  "limit=-1",
  "limit=1001",
  "limit=1e3",
  "limit=0x1",
  "limit=+1",
  "limit= 1",
  "limit=1.0",
  "limit=",
  "limit",
  "limit=١",
  "limit=1&limit=1",
  "offset=-1",
  "offset=9007199254740993",
  "offset=",
  "offset=1&offset=2",
])("B28: %s is refused", (query) => {
  expect(() => readPageRequest(parseQueryText(query))).toThrow(refused);
});

test("parameters are read in their form, and unknown ones passed over", () => {
  const forms = { a: "string", n: "integer", b: "boolean", s: "strings", i: "integers", absent: "string" } as const;
  expect(readQuery(forms, parseQueryText("a=&n=7&b=false&s=x&s=y&i=1&i=2&z=1"))).toEqual({
    a: "",
    n: 7,
    b: false,
    s: ["x", "y"],
    i: [1, 2],
  });
  for (const query of ["a=1&a=2", "n=x", "n=", "b=1", "b=TRUE", "i=1&i=x"]) {
    expect(() => readQuery(forms, parseQueryText(query))).toThrow(refused);
  }
});

const forms = {
  manifest: { is: "object", required: true },
  dryRun: { is: "boolean" },
  name: { is: "string" },
  ttl: { is: "integer" },
  secrets: { is: "list" },
} as const;

test("a body with the right members passes", () => {
  const body = { manifest: {}, dryRun: true, name: "", ttl: 1, secrets: [] };
  expect(readBody(forms, body)).toEqual(body);
});

test.each([
  [undefined, []],
  [null, []],
  [[], []],
  ["{}", []],
  [{}, ["/manifest"]],
  [{ manifest: null }, ["/manifest"]],
  [{ manifest: [] }, ["/manifest"]],
  [{ manifest: {}, dryRun: "true" }, ["/dryRun"]],
  [{ manifest: {}, dryRun: null }, ["/dryRun"]],
  [{ manifest: {}, dryRun: 1 }, ["/dryRun"]],
  [{ manifest: {}, ttl: 1.5 }, ["/ttl"]],
  [{ manifest: {}, id: "x", "a/b": 1 }, ["/id", "/a~1b"]],
  [{ dryrun: true, name: 1 }, ["/dryrun", "/manifest", "/name"]],
])("%j is refused, every fault named", (body, pointers) => {
  expect(() => readBody(forms, body)).toThrow(
    expect.objectContaining({ status: 400, details: pointers.map((pointer) => expect.objectContaining({ pointer })) }),
  );
});
