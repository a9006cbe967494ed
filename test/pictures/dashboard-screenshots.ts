import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser } from "../harness/browser.ts";
import { createKubectl } from "../harness/foreign-tools.ts";
import { startMillwright } from "../harness/millwright.ts";

/** Texts of headings and columns that the page has now, without what they count. */
export const labelsOf = (page: Page): Promise<readonly string[]> =>
  page.locator("h1, h2, .columns-head .cell").evaluateAll((elements) =>
    elements.map((element) =>
      [...element.childNodes]
        .filter(({ nodeType }) => nodeType === 3)
        .map(({ textContent }) => textContent)
        .join("")
        .trim(),
    ),
  );

/** Takes the dashboard of `npm start` in the middle of a rollout, light and dark. The labels of the page are kept, so that a test finds out when it has others. Resolves with the names of the files. */
export async function takeScreenshots(folder: string): Promise<readonly string[]> {
  const dev = startMillwright(["dev", "--port=0", "--dashboard-port=0"]);
  const [, kubeconfig = ""] = await dev.waitFor(/kubeconfig: (\S+)/);
  const [, url = ""] = await dev.waitFor(/Dashboard: (\S+)/);
  await dev.waitFor(/3 ready/);
  const browser = await startBrowser();
  try {
    const kubectl = await createKubectl(kubeconfig);
    await kubectl(["scale", "machinedeployment", "example", "--replicas=9"]);
    await dev.waitFor(/9 ready/);
    const page = await browser.newPage({ viewport: { width: 760, height: 700 } });
    await page.goto(url);
    const spec = {
      strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
      template: { spec: { class: { name: "example-large" } } },
    };
    await kubectl(["patch", "machinedeployment", "example", "--type=merge", "-p", JSON.stringify({ spec })]);
    // Some machines are new and in service, others join, and others leave.
    await page
      .locator(".progress")
      .getByText(/[23] up to date · .* terminating/)
      .waitFor({ timeout: 60_000 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(folder, `dashboard-${colorScheme}.png`) });
    }
    writeFileSync(join(folder, "dashboard-labels.txt"), `${(await labelsOf(page)).join("\n")}\n`);
    return ["dashboard-light.png", "dashboard-dark.png", "dashboard-labels.txt"];
  } finally {
    await browser.close();
    await dev.stop("SIGTERM");
  }
}
