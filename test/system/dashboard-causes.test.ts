import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, hasChromium, startBrowser } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const cause = "quota of 1 VMs is used up";
const screenshots = process.env["DASHBOARD_SCREENSHOTS"];

describe.skipIf(!hasChromium)("the dashboard of a pool whose machines fail", () => {
  let installation: Installation;
  let browser: Browser;
  let url = "";

  beforeAll(async () => {
    installation = await startInstallation({ maxVms: 1 });
    await installation.api.create(machineClassResource, machineClass("small"));
    const run = installation.runAlone("--dashboard", "--dashboard-address=127.0.0.1:0");
    [, url = ""] = await run.waitFor(/(http:\/\/127\.0\.0\.1:\d+\/)/);
    await installation.api.create(machineDeploymentResource, machineDeployment("pool", "small", 4));
    await eventually(async () => {
      const codes = (await installation.machines()).map(({ status }) => status?.lastOperation?.errorCode);
      if (codes.filter((code) => code === "ResourceExhausted").length < 3) throw new Error("not failing yet");
    }, 60_000);
    // The roles for controllers do not include events, which the details then name as missing.
    installation.expectForbidden(/^list .*\/events$/);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await installation.close();
  });

  const open = async (width: number, height: number, name: string): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width, height } });
    page.setDefaultTimeout(20_000);
    await page.goto(url);
    await page.getByRole("option").filter({ hasText: cause }).first().waitFor();
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/${name}.png` });
    return page;
  };

  it.each([
    [1280, 800],
    [390, 844],
  ])("shows the whole cause of each at %i x %i, in the list and on the card", async (width, height) => {
    const page = await open(width, height, `failing-${width}`);
    const causes = page.getByRole("option").locator(".cause");
    await eventually(async () => expect(await causes.count()).toBe(3));
    for (const each of await causes.all()) {
      expect(await each.isVisible()).toBe(true);
      const [seen, whole] = await each.evaluate(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth]);
      expect(whole).toBeLessThanOrEqual(seen ?? 0);
    }
    const card = page.locator(".card");
    await card.getByText("3 machines:").waitFor();
    expect(await card.textContent()).toContain(cause);
    expect(await card.textContent()).not.toContain("minimum availability");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.close();
  });

  it("shows class and age of a machine, and copies the command that explains it", async () => {
    const page = await open(1280, 800, "details");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const row = page.getByRole("option").filter({ hasText: cause }).first();
    expect(await row.locator(".type").textContent()).toContain("small");
    expect(await row.locator(".age").textContent()).toMatch(/^\d+[sm]$/);
    await row.click();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(
      await page.evaluate(() =>
        (
          globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
        ).navigator.clipboard.readText(),
      ),
    ).toMatch(/^millwright why machine\/pool-\S+ -n default$/);
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/details.png` });
    await page.close();
  });

  it("does not show a pool that waits for a person as a success", async () => {
    const page = await open(1280, 800, "before-pause");
    expect(await page.locator(".strip.waiting").count()).toBe(0);
    await installation.api.patch(
      machineDeploymentResource,
      { namespace: "default", name: "pool" },
      { spec: { paused: true } },
      { kind: "merge" },
    );
    await page.locator(".strip.waiting").waitFor({ state: "attached" });
    if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/paused.png` });
    await page.close();
  });
});
