import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Chromium of the system; `undefined` where there is none (test/system/install-chromium). */
const executablePath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find(isExecutable);

/** Whether a browser can be started. */
export const hasChromium = executablePath !== undefined;

/** Starts Chromium without a window. Its sandbox needs a user other than root. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });

/** What axe finds wrong with the page by WCAG 2.2 AA and its best practices, a line each. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ["violations"] }),
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
