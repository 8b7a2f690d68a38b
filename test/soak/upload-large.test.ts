import { expect, test } from "vitest";
import { measureUpload } from "./upload-memory.ts";

const megabytes = Number(process.env.HOLDFAST_UPLOAD_MEGABYTES ?? 10_000);

test.each(["folder", "served"] as const)(
  `a file of ${megabytes} MB is uploaded within 256 MB of memory, %s`,
  async (place) => {
    const measured = await measureUpload(place, megabytes);
    process.stdout.write(`\nupload of ${megabytes} MB, ${place}: ${measured.megabytes} MB\n`);
    expect(measured).toMatchObject({ code: 0 });
    expect(measured.megabytes).toBeLessThan(256);
  },
);
