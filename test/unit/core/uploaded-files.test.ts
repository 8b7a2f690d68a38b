import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import type { Live } from "../../../src/core/live.ts";
import { withFileDigest } from "../../../src/core/uploaded-files.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { present, recorded } from "./given.ts";

describe("the files of a version", () => {
  const upload = kindOf("model-version")?.upload;
  if (upload === undefined) throw new TypeError("no upload");
  const base = { type: "model-version", name: "m", ml_repo: "r" };
  const declared = { ...base, source: { type: "local", path: "m" } };
  const stored = (digest: string, root = "s3://b/1") =>
    upload.withStored(upload.withDigest(declared, digest), upload.storedAt(root));
  const made = (live: Live, receipt: JsonObject | null, digest = "d1") =>
    withFileDigest(declared, digest, upload, { live, recorded: receipt === null ? null : recorded(receipt) });
  const local = upload.withDigest(declared, "d1");
  const absent: Live = { state: "absent" };
  const unknown: Live = { state: "unknown", reason: "no-read" };

  test.each<[string, Live, JsonObject | null, JsonObject]>([
    ["uploaded where there is no version", absent, null, local],
    ["uploaded where the version that was recorded is gone", absent, stored("d1"), local],
    ["those of live where that has the same", present(stored("d1")), null, stored("d1")],
    ["uploaded where live has others", present(stored("d2")), null, local],
    ["those of the record where live cannot be read", unknown, stored("d1"), stored("d1")],
    ["uploaded where live cannot be read, and others are recorded", unknown, stored("d2"), local],
    ["uploaded where live cannot be read, and nothing is recorded", unknown, null, local],
    ["those of live where only its metadata has changed", present(stored("d9")), stored("d1"), stored("d1")],
    ["uploaded where live has other files than the record", present(stored("d9", "s3://b/2")), stored("d1"), local],
  ])("are %s", (_, live, receipt, expected) => {
    expect(made(live, receipt)).toEqual(expected);
  });
});
