import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { launchBrowser } from "../../support/browser.ts";

/** A page of a real browser for all tests of a file, and what it has complained of. */
export type ShownPage = {
  readonly page: Page;
  complaints: string[];
  /** Opens an address; at the end of the test, the page must have complained of nothing but these. */
  readonly open: (url: string, but?: { readonly refusals?: RegExp }) => Promise<void>;
  readonly close: () => Promise<void>;
};

// What says that a stream is lost: the browser tells that too.
const LOST_STREAM = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/;

/** Opens a page for all tests: this browser is a single process, which ends with a page. */
export async function openShownPage(timeoutMs: number): Promise<ShownPage> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(timeoutMs);
  const shown: ShownPage = {
    page,
    complaints: [],
    open: async (url, { refusals = /^$/ } = {}) => {
      shown.complaints = [];
      await page.setViewportSize({ width: 1280, height: 900 });
      onTestFinished(async () => {
        await page.goto("about:blank");
        const others = shown.complaints.filter((text) => !LOST_STREAM.test(text));
        expect(others.filter((text) => !refusals.test(text))).toEqual([]);
      });
      await page.goto(url);
    },
    close: () => browser.close(),
  };
  page.on("console", (message) => shown.complaints.push(message.text()));
  page.on("pageerror", (error) => shown.complaints.push(error.message));
  return shown;
}
