import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, hasChromium, startBrowser } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { labelsOf } from "../pictures/dashboard-screenshots.ts";

/** A text that would run a script, change the order of the text after it, and fill the page. */
const hostile = `<img src=x onerror="document.title='harmed'"><script>document.title='harmed'</script>\u202Egnp.exe ${"A".repeat(20_000)}`;

const canary = "canary-5d1f7c0a9e";

/** One sequence: each test continues after the previous one. */
describe.skipIf(!hasChromium)(
  "the dashboard of millwright dev (where test/system/install-chromium was possible)",
  () => {
    let dev: MillwrightProcess;
    let kubectl: ForeignTool;
    let url = "";
    let browser: Browser;
    let page: Page;
    /** What the browser reports: errors of scripts, and violations of the content security policy. */
    const reported: string[] = [];

    const openPage = async (options: Parameters<Browser["newPage"]>[0] = {}): Promise<Page> => {
      const opened = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
      opened.on("pageerror", ({ message }) => reported.push(message));
      opened.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") reported.push(message.text());
      });
      opened.setDefaultTimeout(20_000);
      await opened.goto(url);
      await opened.getByText("Live", { exact: true }).waitFor();
      return opened;
    };
    const rows = (on = page) => on.getByRole("listbox").getByRole("option");
    const row = (text: string | RegExp) => rows().filter({ hasText: text });
    const progress = (text: string | RegExp) => page.locator(".progress").getByText(text);
    const details = () => page.getByRole("complementary");

    beforeAll(async () => {
      dev = startMillwright(["dev"]);
      const [, kubeconfig = ""] = await dev.waitFor(/kubeconfig: (\S+)/);
      [, url = ""] = await dev.waitFor(/Dashboard: (\S+)/);
      await dev.waitFor(/Ctrl-C stops everything/);
      kubectl = await createKubectl(kubeconfig);
      browser = await startBrowser();
      page = await openPage();
    });
    afterAll(async () => {
      await browser.close();
      await dev.stop("SIGKILL");
    });

    it("is in the second line that the command prints", () => {
      expect(dev.output().trim().split("\n")[1]).toMatch(/^Dashboard: http:\/\/127\.0\.0\.1:\d+\/$/);
    });

    it("follows machines from their creation to service", async () => {
      await eventually(async () => expect(await row(/Running.*In service/).count()).toBe(3), 60_000);
      await progress("3 up to date").waitFor();
      expect(await page.getByRole("status").textContent()).toBe("Live");
    });

    it("has the headings and columns of its screenshots (npm run pictures -- --dashboard)", async () => {
      const stored = readFileSync(new URL("../../docs/pictures/dashboard-labels.txt", import.meta.url), "utf8");
      const labels = await labelsOf(page);
      expect(labels).toContain("Machines");
      expect(stored.trim().split("\n")).toEqual(expect.arrayContaining([...labels]));
    });

    it("is used by keys: j and k select, enter opens, esc closes, / filters", async () => {
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      const selected = rows().and(page.getByRole("option", { selected: true }));
      const names = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].metadata.name}"]))
        .split(" ")
        .toSorted();
      expect(await selected.locator(".name").textContent()).toBe(names[0]);
      await page.keyboard.press("Enter");
      await details().getByText("successfully joined the cluster").first().waitFor();
      await details().getByText("What happens next").waitFor();
      await details().getByText("createMachine of mock").waitFor();
      await details().getByText("CreatedVM").waitFor();
      await page.keyboard.press("Escape");
      await details().waitFor({ state: "detached" });
      await page.keyboard.press("/");
      await page.keyboard.type(names[1] ?? "");
      await eventually(async () => expect(await rows().count()).toBe(1));
      await page.keyboard.press("Escape");
      await eventually(async () => expect(await rows().count()).toBe(3));
    });

    it.each(["light", "dark"] as const)(
      "has no accessibility problems in %s, with and without details",
      async (colorScheme) => {
        for (const width of [1280, 390]) {
          const other = await openPage({ colorScheme, viewport: { width, height: 800 } });
          await rows(other).first().waitFor();
          expect(await accessibilityProblems(other)).toEqual([]);
          await rows(other).first().click();
          await other.getByText("What happens next").waitFor();
          expect(await accessibilityProblems(other)).toEqual([]);
          // Nothing is wider than the screen.
          expect(await other.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
          await other.close();
        }
      },
    );

    it("shows a rollout as revisions, and its drains", async () => {
      const patch = '{"spec":{"template":{"spec":{"class":{"name":"example-large"}}}}}';
      await kubectl(["patch", "machinedeployment", "example", "--type=merge", "-p", patch]);
      await page.getByText("Revision 2").waitFor();
      await eventually(async () => expect(await progress(/old revision|terminating/).count()).toBe(0), 60_000);
      await progress("3 up to date").waitFor();
    });

    it("shows hostile texts as texts", async () => {
      const [name = ""] = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
      await kubectl(["annotate", "machine", name, `example.com/note=${hostile}`]);
      const status = JSON.stringify({ status: { lastOperation: { description: hostile } } });
      await kubectl(["patch", "machine", name, "--subresource=status", "--type=merge", "-p", status]);
      await row(name).click();
      await details().getByText("<script>").first().waitFor();
      await details().getByText("YAML", { exact: true }).click();
      await details().getByText("example.com/note").waitFor();
      const content = await page.content();
      expect(content).not.toContain("\u202E");
      expect(content).toContain("more characters)");
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.title()).toBe("Millwright");
      await page.keyboard.press("Escape");
    });

    it("has no secret in any response", async () => {
      const secret = JSON.stringify({ stringData: { userData: `#cloud-config ${canary}`, [canary]: "x" } });
      await kubectl(["patch", "secret", "example", "--type=merge", "-p", secret]);
      await kubectl(["scale", "machinedeployment", "example", "--replicas=4"]);
      const bodies: string[] = [];
      const stop = new AbortController();
      const stream = await fetch(`${url}api/stream`, { signal: stop.signal });
      const reading = (async () => {
        for await (const chunk of stream.body ?? []) bodies.push(Buffer.from(chunk).toString("utf8"));
      })().catch(() => undefined);
      await eventually(async () => expect(await row(/Running/).count()).toBe(4), 60_000);
      const names = (await kubectl(["get", "machines", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
      for (const path of [...names.map((name) => `machines/default/${name}`), "deployments/default/example"]) {
        const response = await fetch(`${url}api/${path}`);
        expect(response.status).toBe(200);
        bodies.push(await response.text());
      }
      stop.abort();
      await reading;
      const all = bodies.join("\n");
      expect(all).toContain(names[0]);
      expect(all).not.toContain(canary);
      expect(all).not.toContain(Buffer.from(`#cloud-config ${canary}`).toString("base64"));
    });

    it("broke no rule of its content security policy, and no script failed", () => {
      expect(reported).toEqual([]);
    });

    it("shows how old it is when the process is gone", async () => {
      await eventually(async () => expect(await rows().count()).toBe(4));
      await dev.stop("SIGKILL");
      await page.getByText(/^Disconnected, \d+s old$/).waitFor();
      expect(await rows().count()).toBe(4);
    });
  },
);
