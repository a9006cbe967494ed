import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { readerGoals, readerSearches } from "../../tools/docs/reader-goals.ts";
import { readPicture } from "../../tools/site/read-picture.ts";
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
  "/drivers/tutorial",
  "/reference/status",
  "/project/performance",
];

/** The smallest text of a picture or diagram, as it is shown. */
interface ShownText {
  readonly name: string;
  readonly pixels: number;
}

/** The smallest text of each picture of the page. */
async function pictureTexts(page: Page): Promise<readonly ShownText[]> {
  const pictures = await page.evaluate<readonly { src: string; alt: string; width: number }[]>(
    `Promise.all([...document.querySelectorAll(".vp-doc img")].map(async (image) => {
      image.loading = "eager";
      await image.decode();
      return { src: image.src, alt: image.alt, width: image.getBoundingClientRect().width };
    }))`,
  );
  return Promise.all(
    pictures.map(async ({ src, alt, width }) => {
      // The build writes small pictures into the page.
      const [, base64] = /^data:image\/svg\+xml;base64,(.*)$/.exec(src) ?? [];
      const content =
        base64 === undefined ? await readFile(join(dist, new URL(src).pathname)) : Buffer.from(base64, "base64");
      const natural = readPicture(content);
      return { name: alt, pixels: (natural.text * width) / natural.width };
    }),
  );
}

/** The smallest text of each diagram of the page. */
async function diagramTexts(page: Page): Promise<readonly ShownText[]> {
  const pixels = await page.evaluate<readonly number[]>(
    `[...document.querySelectorAll(".diagram svg")].map((svg) => {
      const texts = [...svg.querySelectorAll("text, foreignObject p")].map((each) => parseFloat(getComputedStyle(each).fontSize));
      return (Math.min(...texts) * svg.getBoundingClientRect().width) / svg.viewBox.baseVal.width;
    })`,
  );
  return pixels.map((each, index) => ({ name: `diagram ${index + 1}`, pixels: each }));
}

/** Opens a page, and waits until its script has run and its diagrams are drawn: a slow computer takes seconds for that. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: "networkidle" });
  // VitePress names this button once its script runs.
  await page
    .locator('.VPSwitchAppearance[title]:not([title=""])')
    .first()
    .waitFor({ state: "attached", timeout: 60_000 });
  for (const diagram of await page.locator(".diagram").all()) await diagram.locator("svg").waitFor({ timeout: 60_000 });
}

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
        await open(page, `${site.url}${address}`);
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

    it("shows no text of a picture or diagram smaller than 10 px, on a phone and on a screen", async () => {
      const withPictures = [...pages]
        .filter(([, html]) => /<img|class="diagram"/.test(html))
        .map(([address]) => address);
      expect(withPictures.length).toBeGreaterThan(10);
      const small: string[] = [];
      for (const width of [390, 1280]) {
        const page = await browser.newPage({ viewport: { width, height: 844 } });
        for (const address of withPictures) {
          await open(page, `${site.url}${address}`);
          const found = [...(await pictureTexts(page)), ...(await diagramTexts(page))];
          expect(found.length, address).toBeGreaterThan(0);
          small.push(
            ...found
              .filter(({ pixels }) => pixels < 10)
              .map(({ name, pixels }) => `${address} at ${width} px: ${name} ${pixels.toFixed(1)} px`),
          );
        }
        await page.close();
      }
      expect(small).toEqual([]);
    });

    it("finds what readers look for by a search, among the first three results", async () => {
      const view: Page = await browser.newPage();
      await open(view, site.url);
      await view.keyboard.press("Control+k");
      const results = view.locator("#localsearch-list a");
      const missing: string[] = [];
      const goals = readerGoals.map(({ search, path }) => [search, (path.at(-1) ?? "").split("#")[0] ?? ""] as const);
      for (const [search, page] of [...goals, ...readerSearches]) {
        const address = addressOf(sitePath(page).replace(/\.md$/, ".html"));
        await view.getByRole("searchbox").fill(search);
        const found = (): Promise<readonly (string | null)[]> =>
          results.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute("href")));
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
