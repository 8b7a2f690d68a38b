import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";
import { onTestFinished } from "vitest";

/** Starts a real browser without a window; it ends with the test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    // Its sandbox needs rights that a test runner does not have.
    args: [...chromium.args, "--no-sandbox"],
    headless: true,
  });
  onTestFinished(() => browser.close());
  return browser;
}
