import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { readerGoals } from "../../tools/docs/reader-goals.ts";
import { sitePath } from "../../tools/site/site-pages.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, hasChromium, startBrowser } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { serveFolder } from "../harness/static-site.ts";

const dist = fileURLToPath(new URL("../../tools/site/dist", import.meta.url));
const isBuilt = existsSync(join(dist, "index.html"));

/** Address of a page in the site. */
const addressOf = (file: string): string => `/${file.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`;

/** Pages with all that pages have: diagrams, code, long tables, pictures, lists. */
const kinds = [
  "/",
  "/contents",
  "/concepts/rollouts",
  "/machine-phases",
  "/drivers/tutorial",
  "/labels-annotations-events",
  "/reference/performance",
];

describe.skipIf(!isBuilt)("the site (where npm run site was possible)", { timeout: 300_000 }, () => {
  const pages = new Map<string, string>();
  let site: Awaited<ReturnType<typeof serveFolder>>;

  beforeAll(async () => {
    const files = await readdir(dist, { recursive: true });
    for (const file of files.filter((name) => name.endsWith(".html") && name !== "404.html"))
      pages.set(addressOf(file), await readFile(join(dist, file), "utf8"));
    site = await serveFolder(dist);
  });
  afterAll(() => site.close());

  it("has links to pages and headings that exist", async () => {
    const idsOf = (html: string): ReadonlySet<string> =>
      new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id));
    const ids = new Map([...pages].map(([address, html]) => [address, idsOf(html)]));
    const broken: string[] = [];
    for (const [address, html] of pages)
      for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        if (/^(https?|mailto):/.test(href)) continue;
        const { pathname, hash } = new URL(href.replaceAll("&amp;", "&"), `http://site${address}`);
        const target = ids.get(pathname) ?? ids.get(`${pathname}/`);
        const anchor = decodeURIComponent(hash.slice(1));
        if (target === undefined || (anchor !== "" && !target.has(anchor))) broken.push(`${address}: ${href}`);
      }
    expect([...new Set(broken)]).toEqual([]);
    expect(pages.size).toBeGreaterThan(60);
  });

  describe.skipIf(!hasChromium)("in a browser (where test/system/install-chromium was possible)", () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser();
    });
    afterAll(() => browser.close());

    const problemsOf = async (
      addresses: readonly string[],
      options: Parameters<Browser["newPage"]>[0],
    ): Promise<readonly string[]> => {
      const page = await browser.newPage(options);
      const problems: string[] = [];
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("request", (request) => {
        if (!request.url().startsWith(site.url) && !request.url().startsWith("data:"))
          problems.push(`loads ${request.url()}`);
      });
      for (const address of addresses) {
        await page.goto(`${site.url}${address}`, { waitUntil: "networkidle" });
        const found = await accessibilityProblems(page);
        problems.push(...found.map((problem) => `${address}: ${problem}`));
        const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        if (overflow > 0) problems.push(`${address} is ${overflow} px wider than the window`);
      }
      await page.close();
      return problems;
    };

    it("is accessible, and loads nothing from elsewhere", async () => {
      expect(await problemsOf(kinds, { viewport: { width: 1280, height: 800 } })).toEqual([]);
    });

    it("is accessible in the dark and as wide as a phone", async () => {
      const phone = { viewport: { width: 390, height: 844 }, colorScheme: "dark" } as const;
      expect(await problemsOf(kinds, phone)).toEqual([]);
    });

    it("finds what readers look for by a search, among the first five results", async () => {
      const view: Page = await browser.newPage();
      await view.goto(site.url, { waitUntil: "networkidle" });
      await view.keyboard.press("Control+k");
      const results = view.locator("#localsearch-list a");
      const missing: string[] = [];
      for (const { search, path } of readerGoals) {
        const [page = ""] = (path.at(-1) ?? "").split("#");
        const address = addressOf(sitePath(page).replace(/\.md$/, ".html"));
        await view.getByRole("searchbox").fill(search);
        const found = (): Promise<readonly (string | null)[]> =>
          results.evaluateAll((links) => links.slice(0, 5).map((link) => link.getAttribute("href")));
        // The results of the previous search stay until those of this one are there.
        const isFound = async (): Promise<void> =>
          expect((await found()).map((href) => href?.split("#")[0])).toContain(address);
        await eventually(isFound, 20_000).catch(async () => missing.push(`${search}: ${(await found()).join(", ")}`));
      }
      expect(missing).toEqual([]);
      await view.close();
    });
  });
});
