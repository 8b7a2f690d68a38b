import { readFileSync } from "node:fs";
import { join } from "node:path";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { expect, test } from "vitest";
import { startBrowser } from "../../../support/browser.ts";

const STYLE = `
  body { font: 16px/1.5 sans-serif; width: 760px; margin: 24px; }
  pre { background: #f6f8fa; padding: 12px; overflow: auto; } code { background: #eff1f3; padding: 2px 4px; }
  pre code { padding: 0; background: none; } td, th { border: 1px solid #d0d7de; padding: 4px 12px; } table { border-collapse: collapse; }
  details { margin-left: 8px; } img { max-width: 100%; }`;

/** The Markdown as a page that forges show: GitHub's dialect, with the HTML that it lets through. */
function pageOf(file: string): string {
  const markdown = readFileSync(join(import.meta.dirname, "golden", file), "utf8");
  const html = micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${html}`;
}

test("a review in a real browser shows its verdict, counts and dangers at first sight, and folds the rest", async () => {
  const browser = await startBrowser();
  const page = await browser.newPage({ viewport: { width: 820, height: 720 } });
  page.setDefaultTimeout(180_000);
  await page.setContent(pageOf("review.md"));
  const isOnFirstScreen = async (text: string): Promise<boolean> => {
    const box = await page.getByText(text).first().boundingBox();
    return box !== null && box.y + box.height < 720;
  };
  for (const text of ["1 to create, 3 to update", "This change", "Dangerous: 3", "privilege-growth"])
    expect([text, await isOnFirstScreen(text)]).toEqual([text, true]);
  const service = page.getByText("service/both").last();
  expect(await service.isVisible()).toBe(false);
  await page.getByText("prod-eu:support").nth(3).click();
  expect(await page.locator("details[open]").count()).toBe(1);
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
  expect(await page.locator("pre code.language-diff").count()).toBe(6);
  expect(await page.locator("a, img, script").count()).toBe(0);
  expect(await page.locator("pre").filter({ hasText: "+````" }).count()).toBe(1);
  const screenshots = process.env.SCREENSHOTS;
  if (screenshots !== undefined) {
    await page.screenshot({ path: join(screenshots, "review-open.png"), fullPage: true });
    for (const name of ["review", "drift", "nothing-to-do", "without-a-record"]) {
      await page.setContent(pageOf(`${name}.md`));
      await page.screenshot({ path: join(screenshots, `${name}.png`) });
    }
  }
});
