import { test } from "vitest";

test("passes", () => {});
throw new Error("a file that cannot be loaded");
