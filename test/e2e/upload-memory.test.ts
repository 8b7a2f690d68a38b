import { expect, test } from "vitest";
import { measureUpload } from "../soak/upload-memory.ts";

// `npm run soak` has the long form, with 10 GB.
test.each(["folder", "served"] as const)(
  "a file larger than the memory is uploaded in bounded memory, %s",
  async (place) => {
    const measured = await measureUpload(place, 400);
    expect(measured).toMatchObject({ code: 0 });
    expect(measured.megabytes).toBeLessThan(256);
  },
);
