import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { launchBrowser } from "../../support/browser.ts";
import { type ShownScreen, shownScreens } from "./shown-screens.ts";

/** The pictures of docs/dashboard.md, which `npm run pictures` makes again. */
const FOLDER = join(import.meta.dirname, "../../../docs/dashboard");
const isMaking = process.env.MAKE_PICTURES !== undefined;

let page: Page;
// One page for all: this browser is a single process, which ends with a page. It has its own fonts alone, which are the same everywhere.
beforeAll(async () => {
  const browser = await launchBrowser({ hasMachineFonts: false });
  page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  return () => browser.close();
});

const SIZES = { wide: { width: 1280, height: 760 }, narrow: { width: 360, height: 740 } } as const;

/** Blocks of so many pixels are compared by their mean colour, which hardly depends on how letters are smoothed. */
const BLOCK = 8;
const MAX_DISTANCE = 16;
/** So many of 1,000 blocks may be different. */
const MAX_DIFFERENT = 1;

// A fifth of what a PNG takes. The browser makes and reads it, so no library is needed for that.
const PACK = `async (png) => {
  const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const packed = await canvas.convertToBlob({ type: "image/webp", quality: 0.5 });
  return new Uint8Array(await packed.arrayBuffer()).toBase64();
}`;

// The browser makes the means, by drawing the picture that much smaller: to add the pixels up here takes sixty times as long.
const COMPARE = `async (before, after) => {
  const blocksOf = async (data) => {
    const picture = await createImageBitmap(await (await fetch("data:image/webp;base64," + data)).blob());
    const { width, height } = picture;
    const canvas = new OffscreenCanvas(Math.ceil(width / ${BLOCK}), Math.ceil(height / ${BLOCK}));
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "medium";
    context.drawImage(picture, 0, 0, width / ${BLOCK}, height / ${BLOCK});
    return { size: [width, height], means: context.getImageData(0, 0, canvas.width, canvas.height).data };
  };
  const [a, b] = [await blocksOf(before), await blocksOf(after)];
  if (String(a.size) !== String(b.size)) return { size: b.size, different: 1000 };
  let different = 0;
  for (let at = 0; at < a.means.length; at += 4)
    if ([0, 1, 2].some((channel) => Math.abs(a.means[at + channel] - b.means[at + channel]) > ${MAX_DISTANCE})) different += 1;
  return { size: b.size, different: (1000 * different) / (a.means.length / 4) };
}`;

async function picture({ name, address, shows, from }: ShownScreen): Promise<string> {
  await page.goto(address);
  for (const text of ["live", ...shows]) await page.getByText(text).filter({ visible: true }).first().waitFor();
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  if (from !== undefined) await page.evaluate(`document.querySelector("${from}").scrollIntoView()`);
  const png = await page.screenshot({ animations: "disabled", caret: "hide", scale: "css" });
  await page.goto("about:blank");
  const packed = String(await page.evaluate(`(${PACK})(${JSON.stringify(png.toString("base64"))})`));
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) writeFileSync(join(folder, `${name}.webp`), Buffer.from(packed, "base64"));
  return packed;
}

test("each screen looks as its picture in the documentation, in both themes, on a desk and on a phone", async () => {
  const names: string[] = [];
  if (isMaking) mkdirSync(FOLDER, { recursive: true });
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      // Anew, since by a clock that stands only so many requests are answered.
      for (const screen of await shownScreens()) {
        const name = `${screen.name}-${size}-${theme}`;
        names.push(`${name}.webp`);
        const file = join(FOLDER, `${name}.webp`);
        const now = await picture({ ...screen, name });
        if (isMaking) writeFileSync(file, Buffer.from(now, "base64"));
        expect(existsSync(file), `${name}: \`npm run pictures\` makes it`).toBe(true);
        const kept = readFileSync(file).toString("base64");
        const { different } = (await page.evaluate(
          `(${COMPARE})(${JSON.stringify(kept)}, ${JSON.stringify(now)})`,
        )) as { different: number };
        expect
          .soft(different, `${name} is different; if it should be, \`npm run pictures\` makes it again`)
          .toBeLessThanOrEqual(MAX_DIFFERENT);
      }
    }
  }
  expect(readdirSync(FOLDER).toSorted()).toEqual(names.toSorted());
  const bytes = names.reduce((sum, name) => sum + statSync(join(FOLDER, name)).size, 0);
  expect(bytes).toBeLessThan(600_000);
});
